/** Told by the headers of every answer. */
export interface Figures {
  /** Calls in an hour. */
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds since the epoch. */
  readonly resetAt: number;
}

/** "Wait for at least one minute", and longer each time that it was not long enough (REST API, "Rate limits"). */
const unlessTold = 60_000;
const longestGuess = 15 * 60_000;
/** A window is an hour. What is further away is a mistake of somebody's clock. */
const furthest = 3_600_000;

const wholeNumber = (text: string | null): number | undefined =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;

/**
 * What is left of the hour, if this answer tells. Registering runners is counted apart from everything else (`resource`
 * `actions_runner_registration`), and says nothing about the rest.
 */
export const readFigures = (headers: Headers, now: number): Figures | undefined => {
  const limit = wholeNumber(headers.get('x-ratelimit-limit'));
  const remaining = wholeNumber(headers.get('x-ratelimit-remaining'));
  const reset = wholeNumber(headers.get('x-ratelimit-reset'));
  return !limit || remaining === undefined || reset === undefined || !isCommon(headers)
    ? undefined
    : { limit, remaining, resetAt: Math.min(reset * 1000, now + furthest) };
};

const isCommon = (headers: Headers): boolean => ['core', null].includes(headers.get('x-ratelimit-resource'));

export interface Refusal {
  readonly status: number;
  readonly headers: Headers;
  /** GitHub's words. */
  readonly said: string;
}

export interface Limit {
  /** Milliseconds since the epoch. */
  readonly retryAt: number;
  /** Whether GitHub left it to us how long to wait. */
  readonly isGuess: boolean;
  /** Whether it is for everything that this App asks, or for this kind of call alone. */
  readonly isForAll: boolean;
}

/** Whether this is a limit, and for how long. `guesses`: how often in a row it was not told. */
export const readLimit = ({ status, headers, said }: Refusal, now: number, guesses: number): Limit | undefined => {
  if (status !== 403 && status !== 429) return undefined;
  const retryAfter = wholeNumber(headers.get('retry-after'));
  const isSpent = headers.get('x-ratelimit-remaining') === '0';
  if (status === 403 && retryAfter === undefined && !isSpent && !/rate limit|abuse/i.test(said)) return undefined;
  const isForAll = isCommon(headers);
  const reset = isSpent ? (wholeNumber(headers.get('x-ratelimit-reset')) ?? 0) * 1000 : 0;
  const told = retryAfter === undefined ? reset : now + retryAfter * 1000;
  // A reset that has passed by our clock would have us ask again and again.
  if (told > now) return { retryAt: Math.min(told, now + furthest), isGuess: false, isForAll };
  return { retryAt: now + Math.min(longestGuess, unlessTold * 2 ** guesses), isGuess: true, isForAll };
};
