import { backoffMs, fetchText, type SharedReads } from '@tartan/kube';
import { type Clock, type Random, sleep } from '@tartan/kube/clock';
import type { z } from 'zod';
import { errorFromResponse } from '../errors/error-response.ts';
import type { Redaction } from '../errors/redaction.ts';
import {
  invalidRequest,
  noAnswer,
  ScalewayError,
  type ScalewayErrorKind,
  throttled,
} from '../errors/scaleway-error.ts';
import type { Image, Server } from '../host-pool.ts';
import { type OperationName, operations } from '../operations.ts';
import type { RateLimit } from './rate-limit.ts';
import { parseResponse } from './response.ts';

interface Attempt {
  readonly error: ScalewayError;
  readonly repeatable: boolean;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** In [0, 1). */
  readonly jitter: number;
}

/** The longest wait for the reset of a 429; for a later one the call rejects with `rate limited`. */
const maxWaitMs = 20_000;

/** Milliseconds to wait before the next attempt; `undefined`: that was the last one. */
export const retryDelay = (attempt: Attempt): number | undefined => {
  if (!attempt.repeatable || attempt.attempt >= attempt.maxAttempts) return undefined;
  const delay = backoffMs(backoff, attempt.attempt);
  const step = delay / 2 + (delay / 2) * attempt.jitter;
  const { kind, retryAfter = 0 } = attempt.error;
  if (kind === 'unavailable' || kind === 'no answer') return step;
  if (kind !== 'rate limited' || retryAfter > maxWaitMs) return undefined;
  // The jitter spreads calls that were refused at the same time.
  return Math.max(step, retryAfter + backoff.baseMs * attempt.jitter);
};

/** The upper half of each delay is random. */
const backoff = { baseMs: 500, maxMs: 8000 };

/** One request that was sent, for metrics: each page and each attempt counts. */
export interface CallReport {
  readonly operation: OperationName;
  readonly outcome: 'ok' | 'aborted' | ScalewayErrorKind;
  readonly milliseconds: number;
}

/** The wait of one request for the rate limit, before it was sent. */
export interface WaitReport {
  readonly operation: OperationName;
  readonly milliseconds: number;
  /** Whether the request was sent then; else it was refused because of a long pause, or aborted. */
  readonly isSent: boolean;
}

export interface TransportOptions {
  readonly apiURL: string;
  /** Read for each request: the key may be replaced. */
  readonly secretKey: () => string;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly random: Random;
  readonly rateLimit: RateLimit;
  /** Milliseconds for one attempt, including its whole response. */
  readonly deadline: number;
  readonly maxAttempts: number;
  readonly redaction: Redaction;
  readonly onCall: (report: CallReport) => void;
  readonly onWait: (report: WaitReport) => void;
}

export interface Call<S extends z.ZodType> {
  readonly operation: OperationName;
  /** `rename server 1234`: completes "Scaleway did not …". */
  readonly what: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: Readonly<Record<string, string>>;
  readonly response: S;
  readonly signal: AbortSignal | undefined;
  /** Undefined: that of all calls without one. */
  readonly flow: string | undefined;
}

/** By zone, by zone and type, and all of the project. */
interface SharedLists {
  readonly servers: SharedReads<Server[]>;
  readonly images: SharedReads<Image[]>;
}

export interface CallContext {
  readonly send: <S extends z.ZodType>(call: Call<S>) => Promise<z.output<S>>;
  readonly projectID: string;
  readonly lists: SharedLists;
  /** Redacts this password from all further errors. */
  readonly addSecret: (password: string) => void;
}

/** For segments of a path: a slash in one would name another resource. */
export const validatePathSegments = (what: string, ...parts: readonly string[]): void => {
  const wrong = parts.find((part) => !/^[\w-]+$/.test(part));
  if (wrong !== undefined) throw invalidRequest(what, `${JSON.stringify(wrong)} is no zone and no id`);
};

/**
 * Flow: wait for the rate limit, send, parse; after a transient failure wait and send again. Guarantees: an operation that is not
 * repeatable is sent at most once; rejects with `ScalewayError` or the reason of `call.signal`.
 */
export const send = async <S extends z.ZodType>(call: Call<S>, options: TransportOptions): Promise<z.output<S>> => {
  const { repeatable } = operations[call.operation];
  const { clock, rateLimit, maxAttempts } = options;
  for (let attempt = 1; ; attempt += 1) {
    await waitForRateLimit(call, options);
    try {
      return await withReport(call, options, () => sendOnce(call, options));
    } catch (error) {
      if (!(error instanceof ScalewayError)) throw error;
      if (error.kind === 'rate limited') rateLimit.pause(error.retryAfter ?? 0);
      const wait = retryDelay({ error, repeatable, attempt, maxAttempts, jitter: options.random() });
      if (wait === undefined) throw error;
      await sleepFor(clock, wait, call.signal);
    }
  }
};

/** 100 servers are 0.3 MB. A larger response is not from Scaleway's API. */
export const maxResponseBytes = 8 * 1024 * 1024;

const sendOnce = async <S extends z.ZodType>(call: Call<S>, options: TransportOptions): Promise<z.output<S>> => {
  const { what, operation, method, path, query, body, signal } = call;
  const { apiURL, secretKey, clock, redaction } = options;
  const parameters = Object.entries(query ?? {}).map(([name, value]) => [name, String(value)]);
  const search = query === undefined ? '' : `?${new URLSearchParams(parameters).toString()}`;
  const init = {
    method,
    headers: {
      Accept: 'application/json',
      'User-Agent': 'tartan',
      'X-Auth-Token': secretKey(),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json; charset=utf-8' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  const response = await fetchText(`${apiURL}${path}${search}`, init, {
    ...options,
    maxBytes: maxResponseBytes,
    signal,
  });
  if ('failure' in response) throw noAnswer(what, response.failure);
  const { status, headers, text } = response;
  if (status < 200 || status > 299) {
    const retryAfter = headers.get('retry-after');
    throw errorFromResponse({ status, text, retryAfter }, { what, operation, now: clock.now(), redaction });
  }
  return parseResponse(call.response, response, what);
};

type Waiting = Pick<Call<z.ZodType>, 'operation' | 'what' | 'signal' | 'flow'>;

const waitForRateLimit = async (call: Waiting, options: TransportOptions): Promise<void> => {
  const { clock, rateLimit, onWait } = options;
  const start = clock.monotonic();
  let isSent = false;
  try {
    await waitWhilePaused(call, options);
    await rateLimit.acquire(call.flow ?? '', call.signal ?? never);
    // Another call may have been rate limited meanwhile.
    await waitWhilePaused(call, options);
    isSent = true;
  } finally {
    onWait({ operation: call.operation, milliseconds: clock.monotonic() - start, isSent });
  }
};

const waitWhilePaused = async ({ what, signal }: Waiting, { clock, rateLimit }: TransportOptions): Promise<void> => {
  for (let held = rateLimit.pausedFor(); held > 0; held = rateLimit.pausedFor()) {
    if (held > maxWaitMs) throw throttled(what, held);
    await sleepFor(clock, held, signal);
  }
};

const never = new AbortController().signal;

const sleepFor = async (clock: Clock, milliseconds: number, signal: AbortSignal = never): Promise<void> => {
  if (milliseconds > 0) await sleep(clock, milliseconds, signal);
  signal.throwIfAborted();
};

const withReport = async <T>(
  { operation }: { readonly operation: OperationName },
  { clock, onCall }: TransportOptions,
  sendRequest: () => Promise<T>,
): Promise<T> => {
  const start = clock.monotonic();
  const report = (outcome: CallReport['outcome']): void =>
    onCall({ operation, outcome, milliseconds: clock.monotonic() - start });
  try {
    const value = await sendRequest();
    report('ok');
    return value;
  } catch (error) {
    report(error instanceof ScalewayError ? error.kind : 'aborted');
    throw error;
  }
};
