/** How requests reach an API server. Two of them exist: over HTTPS, and straight into an embedded server in this process. */

export interface TransportRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query. */
  path: string;
  /** Names in lower case. Credentials are the transport's own business. */
  headers: Readonly<Record<string, string>>;
  body?: string;
  /** Ends the request at any time, also while its body is being read. */
  signal: AbortSignal;
}

export interface TransportResponse {
  code: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** Must be read to its end, or left early (`return`), which closes the stream. Throws KubeError `unreachable` when it breaks. */
  body: AsyncIterable<Uint8Array>;
}

export interface Transport {
  /**
   * One try (see `httpsTransport` for the one exception). Rejects with KubeError `unreachable`, `timeout`, `malformed` (no HTTP),
   * `unauthorized` (no usable credentials) or `aborted`; any answer, whatever its code, resolves. When the signal fires with a
   * KubeError as its reason, that is what is thrown.
   */
  send(request: TransportRequest): Promise<TransportResponse>;
  /** Closes idle connections; requests under way go on. */
  close(): void;
}
