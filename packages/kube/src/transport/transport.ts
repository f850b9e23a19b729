/** Sends requests to an API server. Two implementations: HTTPS, and in-process calls of an embedded server. */

export interface TransportRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Including the query. */
  path: string;
  /** Names in lower case. The transport adds the credentials. */
  headers: Readonly<Record<string, string>>;
  body?: string;
  /** Aborts the request at any time, also while the body is being read. */
  signal: AbortSignal;
}

export interface TransportResponse {
  code: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** Read it to its end, or `return` early, which closes the stream. Throws KubeError `unreachable` when the connection breaks. */
  body: AsyncIterable<Uint8Array>;
}

export interface Transport {
  /**
   * One attempt (see `httpsTransport` for the one exception). Rejects with KubeError `unreachable`, `timeout`, `malformed` (no
   * HTTP), `unauthorized` (no usable credentials) or `aborted`; resolves with any response, whatever its code. When the signal's
   * abort reason is a KubeError, rejects with that.
   */
  send(request: TransportRequest): Promise<TransportResponse>;
  /** Closes idle connections; running requests continue. */
  close(): void;
}
