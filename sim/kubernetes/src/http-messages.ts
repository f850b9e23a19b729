/** A request and its response without a socket. */

export interface ApiRequest {
  method: string;
  /** Path without the query, percent-encoding untouched. */
  path: string;
  query: URLSearchParams;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  /** Subject of the verified client certificate, if there is one, and the certificate's SHA-256 in hexadecimal. */
  certificate?: { commonName: string; organizations: readonly string[]; fingerprint?: string };
  /** The client sent a certificate that this cluster did not issue, or that has expired. */
  untrustedCertificate?: boolean;
  /** Fires when the client has disconnected: work for it can stop. */
  signal: AbortSignal;
}

export interface PlainResponse {
  kind: 'answer';
  code: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
}

/** A streaming response: a watch, or a followed log. Flush each chunk. */
export interface StreamResponse {
  kind: 'stream';
  code: number;
  headers: Record<string, string>;
  chunks: AsyncIterable<string | Uint8Array>;
}

/** Switches protocols and proxies to this kubelet: exec, attach, port-forward. Only a transport with sockets can do that. */
interface UpgradeResponse {
  kind: 'upgrade';
  /** https URL of the kubelet, with its query. */
  url: string;
}

export type ApiResponse = PlainResponse | StreamResponse | UpgradeResponse;

/** The embedded API server, for in-process callers, HTTPS and tests. Never rejects. */
export type Handle = (request: ApiRequest) => Promise<ApiResponse>;

export const jsonResponse = (code: number, object: unknown, headers: Record<string, string> = {}): PlainResponse => ({
  kind: 'answer',
  code,
  headers: { 'content-type': 'application/json', ...headers },
  body: `${JSON.stringify(object)}\n`,
});
