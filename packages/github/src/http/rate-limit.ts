import { backoffMs } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Operation } from './operations.ts';

/** "Wait for at least one minute", and longer each time GitHub still refuses (REST API, "Rate limits"). */
const guessedWait = { baseMs: 60_000, maxMs: 15 * 60_000 };
/** A window is an hour. A later reset comes from a wrong clock. */
const maxResetMs = 3_600_000;

const wholeNumber = (text: string | null): number | undefined =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;

type Quota = NonNullable<ReturnType<typeof readQuota>>;

/**
 * The quota of the hour, from the headers of a response. GitHub counts registrations of runners apart (`resource`
 * `actions_runner_registration`): they say nothing about other calls.
 */
export const readQuota = (headers: Headers, now: number) => {
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
  /** GitHub's message. */
  readonly errorMessage: string;
}

/** The rate limit that a response reports. `guesses`: how often in a row GitHub did not say how long to wait. */
export const readLimit = ({ status, headers, errorMessage }: LimitedResponse, now: number, guesses: number) => {
  if (status !== 403 && status !== 429) return undefined;
  const retryAfter = wholeNumber(headers.get('retry-after'));
  const isSpent = headers.get('x-ratelimit-remaining') === '0';
  if (status === 403 && retryAfter === undefined && !isSpent && !/rate limit|abuse/i.test(errorMessage))
    return undefined;
  /** For all calls of this App, or only for this route. */
  const isForAll = isCoreResource(headers);
  const reset = isSpent ? (wholeNumber(headers.get('x-ratelimit-reset')) ?? 0) * 1000 : 0;
  const given = retryAfter === undefined ? reset : now + retryAfter * 1000;
  // With a reset in the past, by our clock, we would retry at once again and again.
  if (given > now) return { retryAt: Math.min(given, now + maxResetMs), isGuess: false, isForAll };
  return { retryAt: now + backoffMs(guessedWait, guesses + 1), isGuess: true, isForAll };
};

const hour = 3_600_000;
/**
 * The share of the hour's calls for background calls, spread over the hour: the rest is for creating and removing runners. Required calls
 * count in the same hour: the more of them, the fewer background calls.
 */
const backgroundShare = 0.5;
/** How far background calls may run ahead: one poll of a large organisation takes some 120 calls of 5,000. */
const backgroundBurst = 0.05;

/** Until when background calls are blocked. In the past: they are not. */
const backgroundBlockedUntil = ({ limit, remaining, resetAt }: Quota): number => {
  const ahead = (limit - remaining) / limit - backgroundBurst;
  return resetAt - hour * Math.max(0, 1 - ahead / backgroundShare);
};

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/** The rate limits of an installation, shared by all its callers, since GitHub counts them together. */
export const createRateLimiter = (clock: Clock) => {
  /** By route: blocked until this time. */
  const closed = new Map<string, number>();
  const everything = '*';
  let quota: Quota | undefined;
  let guesses = 0;
  return {
    /** Until when this operation is blocked; undefined: it is not. */
    blockedUntil: ({ route, purpose }: Operation): number | undefined => {
      const now = clock.now();
      const until = Math.max(
        closed.get(everything) ?? 0,
        closed.get(route) ?? 0,
        purpose === 'background' && quota !== undefined ? backgroundBlockedUntil(quota) : 0,
      );
      return until > now ? until : undefined;
    },
    /** Learns limits from a response. Returns until when to wait, if the response was a refusal because of a limit. */
    observeResponse: ({ route, isAsApp = false }: Operation, answer: LimitedResponse): number | undefined => {
      const now = clock.now();
      if (!isAsApp) quota = readQuota(answer.headers, now) ?? quota;
      const limit = readLimit(answer, now, guesses);
      if (limit === undefined) {
        if (answer.status < 400) guesses = 0;
        return undefined;
      }
      if (limit.isGuess) guesses += 1;
      const what = limit.isForAll && !isAsApp ? everything : route;
      // Of concurrent responses, the longest wait counts.
      const until = Math.max(closed.get(what) ?? 0, limit.retryAt);
      closed.set(what, until);
      return until;
    },
  };
};
