/** Ours are the API server, a scraper or two and people behind kubectl. Whoever is more, longer or slower than that is cut off. */
export interface ApiLimits {
  /** Connections at a time, and how many of them may be exec, attach or port-forward. */
  readonly connections: number;
  readonly sessions: number;
  readonly headerBytes: number;
  /** A message of a WebSocket. kubectl sends at most 32,769 bytes in one. */
  readonly messageBytes: number;
  /** For the handshake, and again for the headers of a request. */
  readonly openingMs: number;
  /** Between two requests of a connection. */
  readonly keepAliveMs: number;
  /** Nothing moves in either direction. Long, as with any kubelet: `logs -f` of a quiet machine is no mistake. */
  readonly silenceMs: number;
  /** How long requests under way may take once the server is told to stop. */
  readonly closingMs: number;
}

export const usualLimits: ApiLimits = {
  connections: 256,
  sessions: 128,
  headerBytes: 32 * 1024,
  messageBytes: 1024 * 1024,
  openingMs: 10_000,
  keepAliveMs: 90_000,
  silenceMs: 4 * 60 * 60 * 1000,
  closingMs: 1_000,
};
