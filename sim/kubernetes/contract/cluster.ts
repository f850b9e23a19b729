import type { KubeObject } from '../src/object.ts';

/** The credentials of a request. A token goes into the Authorization header, a certificate (PEM) into the TLS handshake. */
export type Caller = 'admin' | 'anonymous' | { token: string } | { certificate: string; key: string };

export interface Call {
  method: string;
  /** Includes the query. */
  path: string;
  headers?: Record<string, string>;
  /** Strings and bytes are sent unchanged, anything else as JSON. */
  body?: unknown;
  as?: Caller;
}

export interface Answer {
  code: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  text: string;
  /** `undefined` when the text is not JSON. */
  json: unknown;
}

export interface WatchEvent {
  type: string;
  object: KubeObject;
}

export interface EventStream {
  code: number;
  headers: Record<string, string>;
  /** Ends when the server closes the stream, or after `close`. */
  events: AsyncIterable<WatchEvent>;
  close: () => void;
}

/** A Kubernetes API, in process or over HTTPS. Neither method rejects because of an error response. */
export interface ClusterUnderTest {
  name: string;
  request(call: Call): Promise<Answer>;
  /** For watches that the server accepts. Use `request` to see a refusal. */
  stream(call: Call): Promise<EventStream>;
  close(): Promise<void>;
}

/** A cluster that can be killed. Serves again once `restart` resolves. */
export interface RestartableCluster extends ClusterUnderTest {
  restart(): Promise<void>;
}

export const encodeBody = (body: unknown): string | Uint8Array => {
  if (body === undefined) return '';
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
};

/** Header names in lower case. The content type defaults to JSON. A token becomes a bearer token. */
export const encodeHeaders = (call: Call): Record<string, string> => {
  const headers: Record<string, string> = {};
  if (call.body !== undefined) headers['content-type'] = 'application/json';
  for (const [name, value] of Object.entries(call.headers ?? {})) headers[name.toLowerCase()] = value;
  if (typeof call.as === 'object' && 'token' in call.as) headers.authorization = `Bearer ${call.as.token}`;
  return headers;
};

export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const parseEvent = (line: string): WatchEvent => {
  const event: WatchEvent = JSON.parse(line);
  return event;
};

/** The object in a response, not validated: behaviours check its fields. */
export const objectIn = (answer: Answer): KubeObject => {
  const object: KubeObject = JSON.parse(answer.text);
  return object;
};

export const itemsIn = (answer: Answer): KubeObject[] => {
  const list: { items: KubeObject[] } = JSON.parse(answer.text);
  return list.items;
};

/** The frames of a watch: one JSON object per line. */
export async function* watchEvents(chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<WatchEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    rest += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield parseEvent(line);
  }
}
