import { abortError, unlessAborted } from '../errors/abort-signal.ts';
import { KubeError } from '../errors/kube-error.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

/** The embedded API server's interface, declared by structure so that neither imports the other. */
export type InProcessHandle = (request: InProcessRequest) => Promise<InProcessResponse>;

export interface InProcessRequest {
  method: string;
  /** Without the query. */
  path: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  certificate?: User;
  signal: AbortSignal;
}

type InProcessResponse =
  | { kind: 'answer'; code: number; headers: Readonly<Record<string, string>>; body: string | Uint8Array }
  | {
      kind: 'stream';
      code: number;
      headers: Readonly<Record<string, string>>;
      chunks: AsyncIterable<string | Uint8Array>;
    }
  | { kind: 'upgrade'; url: string };

/** The subject of a client certificate: user name and groups. */
interface User {
  commonName: string;
  organizations: readonly string[];
}

export interface InProcessOptions {
  /** Anonymous by default. */
  user?: User;
  /** For token authentication: `{ authorization: 'Bearer …' }`. */
  headers?: Readonly<Record<string, string>>;
}

const encoder = new TextEncoder();
const bytesOf = (chunk: string | Uint8Array): Uint8Array => (typeof chunk === 'string' ? encoder.encode(chunk) : chunk);

const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

async function* once(body: string | Uint8Array): AsyncGenerator<string | Uint8Array> {
  yield body;
}

/** An early return aborts the server's signal: an idle watch would never notice the `return`. */
const readChunks = (
  chunks: AsyncIterable<string | Uint8Array>,
  signal: AbortSignal,
  onReturn: () => void,
): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => {
    const iterator = chunks[Symbol.asyncIterator]();
    return {
      next: async () => {
        const { done, value } = await unlessAborted(signal, iterator.next());
        return done === true ? { done: true, value: undefined } : { done: false, value: bytesOf(value) };
      },
      return: async () => {
        onReturn();
        iterator.return?.().catch(() => {});
        return { done: true, value: undefined };
      },
    };
  },
});

/** Sends requests directly into an embedded API server: no sockets, no timers, so that tests control all time. */
export const inProcessTransport = (handle: InProcessHandle, options: InProcessOptions = {}): Transport => {
  const send = async (request: TransportRequest): Promise<TransportResponse> => {
    const left = new AbortController();
    const signal = AbortSignal.any([request.signal, left.signal]);
    if (signal.aborted) throw abortError(signal);
    const url = new URL(request.path, 'https://in-process');
    const handling = handle({
      method: request.method,
      path: url.pathname,
      query: url.searchParams,
      headers: { ...request.headers, ...options.headers },
      body: encoder.encode(request.body ?? ''),
      ...(options.user ? { certificate: options.user } : {}),
      signal,
    });
    const answer = await unlessAborted(signal, handling);
    if (answer.kind === 'upgrade') {
      throw new KubeError('malformed', `The embedded API server wants to switch protocols on ${request.path}`);
    }
    const chunks = answer.kind === 'stream' ? answer.chunks : once(answer.body);
    const { code, headers } = answer;
    return { code, headers: lowerCase(headers), body: readChunks(chunks, signal, () => left.abort()) };
  };

  return { send, close: () => {} };
};
