import { isKubeError } from '@tartan/kube';

/** Runs work, so much at the same time, and collects what goes wrong. */
export interface Turns {
  /** Answers undefined when it failed, or was not begun any more. Never rejects. */
  take<T>(work: () => Promise<T>): Promise<T | undefined>;
  /** What went wrong, in all. */
  readonly failures: readonly unknown[];
}

/**
 * Guarantees: the failure of one keeps no other from being tried, unless it says that nobody is there to be asked: then whatever has not
 * begun is left for the next pass, since each would wait for its own deadline.
 */
export const createTurns = (atOnce: number): Turns => {
  const failures: unknown[] = [];
  const waiting: (() => void)[] = [];
  let free = atOnce;
  let isOver = false;
  const turn = async (): Promise<void> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const handOn = (): void => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };
  return {
    failures,
    take: async (work) => {
      await turn();
      try {
        return isOver ? undefined : await work();
      } catch (error) {
        failures.push(error);
        isOver ||= isNobodyThere(error);
        return undefined;
      } finally {
        handOn();
      }
    },
  };
};

const isNobodyThere = (error: unknown): boolean =>
  isKubeError(error, 'unreachable', 'timeout', 'serverError', 'tooManyRequests', 'unauthorized', 'aborted') ||
  (error instanceof Error && error.name === 'NotLeadingError');
