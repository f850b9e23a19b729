import type { Clock } from '@tartan/kube/clock';

/**
 * Since when Nodes have been missing, as far as this process knows. Memory only: whoever starts anew counts from zero, so that a
 * restart can make somebody wait longer and never shorter. On the monotonic clock: one that is set forward shortens nothing.
 */
export interface MissingNodeTracker {
  /** For how long that Node has been missing. 0 when nobody has recorded it as missing. */
  missingForMs(node: string): number;
  /** The first that says missing starts the count, one that says present ends it. */
  record(node: string, isMissing: boolean): void;
  has(node: string): boolean;
  /** Nobody asks any more: the next absence counts from zero. */
  forget(node: string): void;
  clear(): void;
}

export const createMissingNodeTracker = (clock: Pick<Clock, 'monotonic'>): MissingNodeTracker => {
  const since = new Map<string, number>();
  return {
    missingForMs: (node) => {
      const now = clock.monotonic();
      return now - (since.get(node) ?? now);
    },
    record: (node, isMissing) => {
      if (!isMissing) since.delete(node);
      else if (!since.has(node)) since.set(node, clock.monotonic());
    },
    has: (node) => since.has(node),
    forget: (node) => {
      since.delete(node);
    },
    clear: () => since.clear(),
  };
};
