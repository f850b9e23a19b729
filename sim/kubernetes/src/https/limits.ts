/** What a client may take of the server before it is turned away. */
export interface Limits {
  /** Of a request body. The real server's own limit. */
  bodyBytes: number;
  /** Until all headers have arrived, and until the whole request has. */
  headersMilliseconds: number;
  requestMilliseconds: number;
  /** How often the two are looked at. */
  checkMilliseconds: number;
  /** How long a closing server waits for answers that are under way. */
  closeMilliseconds: number;
}

export const defaultLimits: Limits = {
  bodyBytes: 3 * 1024 * 1024,
  headersMilliseconds: 10_000,
  requestMilliseconds: 60_000,
  checkMilliseconds: 2_000,
  closeMilliseconds: 1_000,
};
