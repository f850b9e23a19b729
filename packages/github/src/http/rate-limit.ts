import { backoffMs } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Operation } from './operations.ts';

/** Told by the headers of every answer. */
interface Quota {
  /** Calls in an hour. */
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds since the epoch. */
  readonly resetAt: number;
}

/** "Wait for at least one minute", and longer each time that it was not long enough (REST API, "Rate limits"). */
const guessedWait = { baseMs: 60_000, maxMs: 15 * 60_000 };
/** A window is an hour. What is further away is a mistake of somebody's clock. */
const maxResetMs = 3_600_000;

const wholeNumber = (text: string | null): number | undefined =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;

/**
 * What is left of the hour, if this answer tells. Registering runners is counted apart from everything else (`resource`
 * `actions_runner_registration`), and says nothing about the rest.
 */
export const readQuota = (headers: Headers, now: number): Quota | undefined => {
  const limit = wholeNumber(headers.get('x-ratelimit-limit'));
  const remaining = wholeNumber(headers.get('x-ratelimit-remaining'));
  const reset = wholeNumber(headers.get('x-ratelimit-reset'));
  return !limit || remaining === undefined || reset === undefined || !isCoreResource(headers)
    ? undefined
    : { limit, remaining, resetAt: Math.min(reset * 1000, now + maxResetMs) };
};

const isCoreResource = (headers: Headers): boolean => ['core', null].includes(headers.get('x-ratelimit-resource'));

interface LimitedResponse {
  readonly status: number;
  readonly headers: Headers;
  /** GitHub's words. */
  readonly errorMessage: string;
}

interface Limit {
  /** Milliseconds since the epoch. */
  readonly retryAt: number;
  /** Whether GitHub left it to us how long to wait. */
  readonly isGuess: boolean;
  /** Whether it is for everything that this App asks, or for this kind of call alone. */
  readonly isForAll: boolean;
}

/** Whether this is a limit, and for how long. `guesses`: how often in a row it was not told. */
export const readLimit = (
  { status, headers, errorMessage }: LimitedResponse,
  now: number,
  guesses: number,
): Limit | undefined => {
  if (status !== 403 && status !== 429) return undefined;
  const retryAfter = wholeNumber(headers.get('retry-after'));
  const isSpent = headers.get('x-ratelimit-remaining') === '0';
  if (status === 403 && retryAfter === undefined && !isSpent && !/rate limit|abuse/i.test(errorMessage))
    return undefined;
  const isForAll = isCoreResource(headers);
  const reset = isSpent ? (wholeNumber(headers.get('x-ratelimit-reset')) ?? 0) * 1000 : 0;
  const told = retryAfter === undefined ? reset : now + retryAfter * 1000;
  // A reset that has passed by our clock would have us ask again and again.
  if (told > now) return { retryAt: Math.min(told, now + maxResetMs), isGuess: false, isForAll };
  return { retryAt: now + backoffMs(guessedWait, guesses + 1), isGuess: true, isForAll };
};

const hour = 3_600_000;
/**
 * Background calls may use this share of the hour's calls, spread over the hour: the rest is for creating and removing runners. Required
 * calls are counted in the same hour, so the more of them there are, the fewer background calls.
 */
const backgroundShare = 0.5;
/** How far background calls may be ahead of the hour: one poll of a large organisation takes some 120 calls of 5,000. */
const backgroundBurst = 0.05;

/** Until when background calls are blocked; in the past: they are not. */
const backgroundBlockedUntil = ({ limit, remaining, resetAt }: Quota): number => {
  const ahead = (limit - remaining) / limit - backgroundBurst;
  return resetAt - hour * Math.max(0, 1 - ahead / backgroundShare);
};

/** What GitHub lets an installation ask. One for all who ask as it, since GitHub counts them together. */
export interface RateLimiter {
  /** Until when this is not to be asked; undefined: now. */
  blockedUntil(operation: Operation): number | undefined;
  /** Takes in what an answer tells of limits. Returns until when to wait, if the answer was a refusal for that reason. */
  observeResponse(operation: Operation, answer: LimitedResponse): number | undefined;
}

export const createRateLimiter = (clock: Clock): RateLimiter => {
  /** Until when, by route. */
  const closed = new Map<string, number>();
  const everything = '*';
  let quota: Quota | undefined;
  let guesses = 0;
  return {
    blockedUntil: ({ route, purpose }) => {
      const now = clock.now();
      const until = Math.max(
        closed.get(everything) ?? 0,
        closed.get(route) ?? 0,
        purpose === 'background' && quota !== undefined ? backgroundBlockedUntil(quota) : 0,
      );
      return until > now ? until : undefined;
    },
    observeResponse: ({ route, isAsApp = false }, answer) => {
      const now = clock.now();
      if (!isAsApp) quota = readQuota(answer.headers, now) ?? quota;
      const limit = readLimit(answer, now, guesses);
      if (limit === undefined) {
        if (answer.status < 400) guesses = 0;
        return undefined;
      }
      if (limit.isGuess) guesses += 1;
      const what = limit.isForAll && !isAsApp ? everything : route;
      // Of answers that come together, the one that asks for the longest wait counts.
      const until = Math.max(closed.get(what) ?? 0, limit.retryAt);
      closed.set(what, until);
      return until;
    },
  };
};
