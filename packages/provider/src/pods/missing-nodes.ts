import type { Clock } from '@tartan/kube/clock';

/**
 * Since when Nodes have been missing, as far as this process knows. Memory only: whoever starts anew counts from zero, so that a
 * restart can make somebody wait longer and never shorter. On the monotonic clock: one that is set forward shortens nothing.
 */
export const createMissingNodeTracker = (clock: Pick<Clock, 'monotonic'>) => {
  const since = new Map<string, number>();
  return {
    /** For how long that Node has been missing. 0 when nobody has recorded it as missing. */
    missingForMs: (node: string): number => {
      const now = clock.monotonic();
      return now - (since.get(node) ?? now);
    },
    /** The first that says missing starts the count, one that says present ends it. */
    record: (node: string, isMissing: boolean): void => {
      if (!isMissing) since.delete(node);
      else if (!since.has(node)) since.set(node, clock.monotonic());
    },
    has: (node: string): boolean => since.has(node),
    /** Nobody asks any more: the next absence counts from zero. */
    forget: (node: string): void => {
      since.delete(node);
    },
    clear: (): void => since.clear(),
  };
};

export type MissingNodeTracker = ReturnType<typeof createMissingNodeTracker>;
