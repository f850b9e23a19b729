/** How long to wait between tries that fail. */
export interface Backoff {
  /** Longest wait after the first failure; it doubles with each failure in a row. */
  initialMs: number;
  maxMs: number;
  /** A watch that held this long ends the row: its own failure counts as the first. */
  healthyMs: number;
}

/** client-go's numbers. A watch that holds as long as the longest wait cannot make a row of more than two tries a minute. */
export const defaultBackoff: Backoff = { initialMs: 800, maxMs: 30_000, healthyMs: 30_000 };

/** The upper half of each step is random (`jitter` in [0, 1)), so that a fleet that failed together does not come back together. */
export const backoffMs = ({ initialMs, maxMs }: Backoff, failures: number, jitter: number): number => {
  const step = Math.min(maxMs, initialMs * 2 ** Math.max(0, failures - 1));
  return step / 2 + (step / 2) * jitter;
};
