/** Told of what happens to the keys of one work queue, so that it can be measured. */
export interface QueueObserver {
  /** The key was not wanted and is now: it waits, or comes again once the worker that has it is done. */
  added(key: string): void;
  /** A worker has it. */
  taken(key: string): void;
  /** The worker is done with it. */
  finished(key: string): void;
  /** Somebody asked for a key to come later: a retry, or `addAfter`. */
  delayed(): void;
  /** Nothing waits any more. Keys that are worked on are still `finished`. */
  stopped(): void;
}

export const unobserved: QueueObserver = {
  added: () => {},
  taken: () => {},
  finished: () => {},
  delayed: () => {},
  stopped: () => {},
};
