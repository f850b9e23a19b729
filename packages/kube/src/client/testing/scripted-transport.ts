import type { Transport, TransportRequest, TransportResponse } from '../../transport/transport.ts';

/** For tests: a transport with scripted responses. */
export interface ScriptedTransport extends Transport {
  /** The requests, in order. */
  readonly seen: TransportRequest[];
  /** Number of bodies that the client cancelled before their end. */
  left: number;
}

export type Script = (request: TransportRequest, index: number) => ScriptedAnswer | Promise<ScriptedAnswer>;

interface ScriptedAnswer {
  code?: number;
  headers?: Record<string, string>;
  /** Text, a value to encode as JSON, or a stream. */
  body?: unknown;
}

const isStream = (body: unknown): body is AsyncIterable<Uint8Array> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body;

const bytesOf = (body: unknown): Uint8Array => Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));

export const scriptedTransport = (script: Script): ScriptedTransport => {
  const seen: TransportRequest[] = [];
  const transport: ScriptedTransport = {
    seen,
    left: 0,
    send: async (request): Promise<TransportResponse> => {
      const index = seen.push(request) - 1;
      const { code = 200, headers = {}, body = '' } = await script(request, index);
      const chunks = isStream(body) ? body : [bytesOf(body)];
      const read = async function* (): AsyncGenerator<Uint8Array> {
        let complete = false;
        try {
          yield* chunks;
          complete = true;
        } finally {
          if (!complete) transport.left++;
        }
      };
      return { code, headers, body: read() };
    },
    close: () => {},
  };
  return transport;
};
