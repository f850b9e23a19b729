import type { Clock } from '@tartan/kube/clock';

/**
 * Since when Nodes have been missing, as far as this process knows. In memory, on the monotonic clock: a restart counts from zero, and a
 * clock set forward shortens nothing, so waits can only get longer.
 */
export const createMissingNodeTracker = (clock: Pick<Clock, 'monotonic'>) => {
  const since = new Map<string, number>();
  return {
    /** How long that Node has been missing. 0 if it is not recorded as missing. */
    missingForMs: (node: string): number => {
      const now = clock.monotonic();
      return now - (since.get(node) ?? now);
    },
    /** The first missing record starts the count, a present one ends it. */
    record: (node: string, isMissing: boolean): void => {
      if (!isMissing) since.delete(node);
      else if (!since.has(node)) since.set(node, clock.monotonic());
    },
    has: (node: string): boolean => since.has(node),
    /** The next absence counts from zero. */
    forget: (node: string): void => {
      since.delete(node);
    },
    clear: (): void => since.clear(),
  };
};

export type MissingNodeTracker = ReturnType<typeof createMissingNodeTracker>;
