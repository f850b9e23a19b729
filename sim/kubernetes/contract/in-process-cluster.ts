import { X509Certificate } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ApiRequest, ApiResponse, Handle } from '../src/http-messages.ts';
import { type Call, type ClusterUnderTest, encodeBody, encodeHeaders, parseJson, watchEvents } from './cluster.ts';

type Subject = NonNullable<ApiRequest['certificate']>;

const admin: Subject = { commonName: 'kubernetes-admin', organizations: ['system:masters'] };

/** What the TLS server passes on after it has verified the certificate. */
const subjectOf = (pem: string): Subject => {
  const lines = new X509Certificate(pem).subject.split('\n').map((line) => line.split('='));
  const values = (name: string): string[] => lines.filter(([key]) => key === name).map(([, ...rest]) => rest.join('='));
  return { commonName: values('CN')[0] ?? '', organizations: values('O') };
};

const certificateOf = (caller: Call['as'] = 'admin'): Subject | undefined => {
  if (caller === 'admin') return admin;
  return typeof caller === 'object' && 'certificate' in caller ? subjectOf(caller.certificate) : undefined;
};

const lowerCase = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Reads on without a consumer, as a socket does. */
const eagerly = (chunks: AsyncIterable<string | Uint8Array>): AsyncIterable<string | Uint8Array> => {
  const passage = new PassThrough();
  pipeline(chunks, passage).catch(() => undefined);
  return passage;
};

/** The embedded API server without a socket. */
export const inProcessCluster = (handle: Handle): ClusterUnderTest => {
  const running = new Set<AbortController>();

  const send = async (call: Call, abort: AbortController): Promise<Exclude<ApiResponse, { kind: 'upgrade' }>> => {
    const url = new URL(call.path, 'https://in-process');
    const body = encodeBody(call.body);
    const certificate = certificateOf(call.as);
    const response = await handle({
      method: call.method,
      path: url.pathname,
      query: url.searchParams,
      headers: encodeHeaders(call),
      body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
      signal: abort.signal,
      ...(certificate ? { certificate } : {}),
    });
    if (response.kind === 'upgrade') throw new Error(`${call.path} wants to switch protocols, which needs a socket`);
    return response;
  };

  const collect = async (response: Exclude<ApiResponse, { kind: 'upgrade' }>): Promise<string> => {
    const decoder = new TextDecoder();
    const decode = (chunk: string | Uint8Array): string =>
      typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    if (response.kind === 'answer') return decode(response.body);
    let text = '';
    for await (const chunk of response.chunks) text += decode(chunk);
    return text;
  };

  async function* once(body: string | Uint8Array): AsyncGenerator<string | Uint8Array> {
    yield body;
  }

  return {
    name: 'embedded, in process',
    request: async (call) => {
      const abort = new AbortController();
      running.add(abort);
      const response = await send(call, abort);
      const text = await collect(response);
      running.delete(abort);
      return { code: response.code, headers: lowerCase(response.headers), text, json: parseJson(text) };
    },
    stream: async (call) => {
      const abort = new AbortController();
      running.add(abort);
      const response = await send(call, abort);
      const chunks = response.kind === 'stream' ? response.chunks : once(response.body);
      return {
        code: response.code,
        headers: lowerCase(response.headers),
        events: watchEvents(eagerly(chunks)),
        close: () => {
          running.delete(abort);
          abort.abort();
        },
      };
    },
    close: async () => {
      for (const abort of running) abort.abort();
    },
  };
};
