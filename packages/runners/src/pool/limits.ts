/** How long things may take. Milliseconds. */
export interface Limits {
  /**
   * So long after a runner was retired, a job that was on its way to it has shown itself. The guest needs seconds to begin one, its agent
   * seconds to tell; that an agent is silent is known after 40 seconds.
   */
  readonly settleMs: number;
  /** A Pod that starts, or goes, for longer than this is stuck. */
  readonly stuckAfterMs: number;
}

export const usualLimits: Limits = { settleMs: 2 * 60_000, stuckAfterMs: 10 * 60_000 };
