import { Agent, request as httpsRequest } from 'node:https';
import type { IncomingMessage } from 'node:http';
import {
  type Answer,
  type Call,
  type ClusterUnderTest,
  encodeBody,
  encodeHeaders,
  parseJson,
  watchEvents,
} from './cluster.ts';

export interface Coordinates {
  /** `https://host:port` */
  url: string;
  /** PEM. */
  ca: string;
  cert: string;
  key: string;
}

const plainHeaders = (message: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );

/** Treats a connection that the server cut like a watch that was closed properly. */
async function* untilCut(message: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of message) yield chunk;
  } catch {
    return;
  }
}

/** A real API server, or the embedded one over HTTPS. */
export const httpsCluster = ({ url, ca, cert, key }: Coordinates): ClusterUnderTest => {
  const agents: Agent[] = [];
  const agent = (identity?: { cert: string; key: string }): Agent => {
    const created = new Agent({ ca, keepAlive: true, ...identity });
    agents.push(created);
    return created;
  };
  const admin = agent({ cert, key });
  const nobody = agent();
  const byCertificate = new Map<string, Agent>();

  const agentFor = (caller: Call['as'] = 'admin'): Agent => {
    if (caller === 'admin') return admin;
    if (caller === 'anonymous' || 'token' in caller) return nobody;
    const known = byCertificate.get(caller.certificate) ?? agent({ cert: caller.certificate, key: caller.key });
    byCertificate.set(caller.certificate, known);
    return known;
  };

  const send = (call: Call): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const body = encodeBody(call.body);
      const outgoing = httpsRequest(new URL(call.path, url), {
        method: call.method,
        agent: agentFor(call.as),
        headers: { ...encodeHeaders(call), ...(body.length > 0 ? { 'content-length': Buffer.byteLength(body) } : {}) },
      });
      outgoing.once('response', resolve).once('error', reject).end(body);
    });

  return {
    name: url,
    request: async (call): Promise<Answer> => {
      const message = await send(call);
      const chunks: Uint8Array[] = [];
      for await (const chunk of message as AsyncIterable<Uint8Array>) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      return { code: message.statusCode ?? 0, headers: plainHeaders(message), text, json: parseJson(text) };
    },
    stream: async (call) => {
      const message = await send(call);
      return {
        code: message.statusCode ?? 0,
        headers: plainHeaders(message),
        events: watchEvents(untilCut(message)),
        close: () => message.destroy(),
      };
    },
    close: async () => {
      for (const each of agents) each.destroy();
    },
  };
};
