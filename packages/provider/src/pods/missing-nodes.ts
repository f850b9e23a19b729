import type { Clock } from '@tartan/kube/clock';

/**
 * Since when Nodes have been missing, as far as this process knows. Memory only: whoever starts anew counts from zero, so that a
 * restart can make somebody wait longer and never shorter. On the monotonic clock: one that is set forward shortens nothing.
 */
export interface MissingNodeTracker {
  /** For how long that Node has been missing. The first call starts the count. */
  missingForMs(node: string): number;
  has(node: string): boolean;
  /** The Node is there, or nobody asks any more: the next absence counts from zero. */
  forget(node: string): void;
  clear(): void;
}

export const createMissingNodeTracker = (clock: Pick<Clock, 'monotonic'>): MissingNodeTracker => {
  const since = new Map<string, number>();
  return {
    missingForMs: (node) => {
      const now = clock.monotonic();
      const start = since.get(node) ?? now;
      since.set(node, start);
      return now - start;
    },
    has: (node) => since.has(node),
    forget: (node) => {
      since.delete(node);
    },
    clear: () => since.clear(),
  };
};
