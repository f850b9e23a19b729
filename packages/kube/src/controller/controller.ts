/** Something that works on keys until told to stop. */
export interface Controller {
  readonly name: string;
  /** Resolves when it listens to its sources and its workers wait for keys, for the first time. */
  readonly ready: Promise<void>;
  /** Keys whose pass has ignored its signal and is still under way, after `run` has given up on it. */
  readonly abandoned: readonly string[];
  /**
   * Works until `signal` fires, then stops within its grace period. Can be run again after that, but not while a pass is
   * abandoned: that would put two workers on one key. Rejects when a source cannot be subscribed to, or on a defect of its own.
   */
  run(signal: AbortSignal): Promise<void>;
}
