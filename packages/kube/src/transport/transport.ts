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

/** A WebSocket, message by message. */
export interface Channel {
  /** The subprotocol that the server chose. */
  protocol: string;
  /** Ends when the other side closes; throws KubeError `unreachable` when the connection breaks. */
  messages: AsyncIterable<Uint8Array>;
  /** Resolves when there is room for more. */
  send(message: Uint8Array): Promise<void>;
  close(): void;
}

export interface Transport {
  /**
   * One try (see `httpsTransport` for the one exception). Rejects with KubeError `unreachable`, `timeout`, `malformed` (no HTTP),
   * `unauthorized` (no usable credentials) or `aborted`; any answer, whatever its code, resolves. When the signal fires with a
   * KubeError as its reason, that is what is thrown.
   */
  send(request: TransportRequest): Promise<TransportResponse>;
  /** Rejects as `send` does, and with what the server said when it refuses to switch protocols. */
  open(request: { path: string; protocols: readonly string[]; signal: AbortSignal }): Promise<Channel>;
  /** Closes idle connections; requests under way go on. */
  close(): void;
}
