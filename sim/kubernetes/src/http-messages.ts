/** A request and its answer without any socket: what the pure core takes and gives. */

export interface ApiRequest {
  method: string;
  /** Path without the query, percent-encoding untouched. */
  path: string;
  query: URLSearchParams;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  /** Subject of the verified client certificate, when the transport saw one, and SHA-256 of the certificate in hexadecimal. */
  certificate?: { commonName: string; organizations: readonly string[]; fingerprint?: string };
  /** The client showed a certificate that this cluster did not issue, or that has expired. */
  untrustedCertificate?: boolean;
  /** Fires when the client is gone: whatever is still under way for it can stop. */
  signal: AbortSignal;
}

export interface PlainResponse {
  kind: 'answer';
  code: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
}

/** An answer that goes on: a watch, or a log that is followed. Each chunk is to be flushed. */
export interface StreamResponse {
  kind: 'stream';
  code: number;
  headers: Record<string, string>;
  chunks: AsyncIterable<string | Uint8Array>;
}

/** "Switch protocols and become a pipe to this kubelet": exec, attach, port-forward. Only a transport with sockets can do that. */
interface UpgradeResponse {
  kind: 'upgrade';
  /** https URL of the kubelet, with its query. */
  url: string;
}

export type ApiResponse = PlainResponse | StreamResponse | UpgradeResponse;

/** The embedded API server as everybody sees it: in-process callers, the HTTPS shell, tests. Never rejects. */
export type Handle = (request: ApiRequest) => Promise<ApiResponse>;

export const jsonResponse = (code: number, object: unknown, headers: Record<string, string> = {}): PlainResponse => ({
  kind: 'answer',
  code,
  headers: { 'content-type': 'application/json', ...headers },
  body: `${JSON.stringify(object)}\n`,
});
