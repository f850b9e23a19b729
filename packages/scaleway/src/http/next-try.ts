import type { ScalewayError } from '../scaleway-error.ts';

export interface Tried {
  readonly error: ScalewayError;
  readonly repeatable: boolean;
  /** How often it was tried, 1 or more. */
  readonly tried: number;
  readonly tries: number;
  /** The longest reset time that is waited for; a later one is the caller's affair. */
  readonly longestWait: number;
  /** In [0, 1). */
  readonly jitter: number;
}

/** Milliseconds to wait before asking again; `undefined`: that was the last try. */
export const waitBeforeNextTry = (tried: Tried): number | undefined => {
  if (!tried.repeatable || tried.tried >= tried.tries) return undefined;
  const step = backoff(tried.tried, tried.jitter);
  const { kind, retryAfter = 0 } = tried.error;
  if (kind === 'unavailable' || kind === 'no answer') return step;
  if (kind !== 'rate limited' || retryAfter > tried.longestWait) return undefined;
  // Past the reset by a jitter: all that were refused together would else come back together.
  return Math.max(step, retryAfter + firstStep * tried.jitter);
};

const firstStep = 500;
const lastStep = 8000;

/** Doubles from half a second to 8 s; the upper half of each step is random. */
const backoff = (tried: number, jitter: number): number => {
  const step = Math.min(lastStep, firstStep * 2 ** (tried - 1));
  return step / 2 + (step / 2) * jitter;
};
