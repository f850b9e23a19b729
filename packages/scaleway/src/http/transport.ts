import { type Clock, type Random, sleep } from '@tartan/kube/clock';
import type { z } from 'zod';
import { errorFromResponse } from '../errors/error-response.ts';
import type { Redaction } from '../errors/redaction.ts';
import { ScalewayError, type ScalewayErrorKind, throttled } from '../errors/scaleway-error.ts';
import { type OperationName, operations } from '../operations.ts';
import type { RateLimit } from './rate-limit.ts';
import { fetchOnce, type OutgoingRequest, parseResponse } from './request.ts';

interface Attempt {
  readonly error: ScalewayError;
  readonly repeatable: boolean;
  /** How often it was tried, 1 or more. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** The longest reset time that is waited for; a later one is the caller's affair. */
  readonly maxWaitMs: number;
  /** In [0, 1). */
  readonly jitter: number;
}

/** Milliseconds to wait before asking again; `undefined`: that was the last try. */
export const retryDelay = (attempt: Attempt): number | undefined => {
  if (!attempt.repeatable || attempt.attempt >= attempt.maxAttempts) return undefined;
  const step = backoff(attempt.attempt, attempt.jitter);
  const { kind, retryAfter = 0 } = attempt.error;
  if (kind === 'unavailable' || kind === 'no answer') return step;
  if (kind !== 'rate limited' || retryAfter > attempt.maxWaitMs) return undefined;
  // Past the reset by a jitter: all that were refused together would else come back together.
  return Math.max(step, retryAfter + firstDelayMs * attempt.jitter);
};

const firstDelayMs = 500;
const maxDelayMs = 8000;

/** Doubles from half a second to 8 s; the upper half of each step is random. */
const backoff = (tried: number, jitter: number): number => {
  const step = Math.min(maxDelayMs, firstDelayMs * 2 ** (tried - 1));
  return step / 2 + (step / 2) * jitter;
};

/** One request that went out, for metrics: each page and each try is one. */
export interface CallReport {
  readonly operation: OperationName;
  readonly outcome: 'ok' | 'aborted' | ScalewayErrorKind;
  readonly milliseconds: number;
}

export interface TransportOptions {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly random: Random;
  readonly rateLimit: RateLimit;
  readonly deadline: number;
  readonly maxAttempts: number;
  readonly maxWaitMs: number;
  readonly redaction: Redaction;
  readonly onCall: (report: CallReport) => void;
}

/** What is asked, beside the bytes. */
export interface Call {
  readonly operation: OperationName;
  /** `rename server 1234`: for messages. */
  readonly what: string;
  /** What the answer has to look like. */
  readonly answer: z.ZodType;
  readonly signal: AbortSignal | undefined;
}

/**
 * What the SDK lacks: a deadline for each try, further tries for what may be repeated, a rate, and answers that are checked.
 *
 * Flow: wait for a turn, ask, read; on a failure that may pass wait and ask again. Guarantees: an operation that is not repeatable goes
 * out at most once; the value is what `call.answer` made of the body; rejects with `ScalewayError` or the reason of `call.signal`.
 */
export const send = async (outgoing: OutgoingRequest, call: Call, options: TransportOptions): Promise<unknown> => {
  const { repeatable } = operations[call.operation];
  const { clock, rateLimit, maxAttempts, maxWaitMs } = options;
  for (let attempt = 1; ; attempt += 1) {
    await waitForRateLimit(call, options);
    try {
      return await withReport(call, options, () => sendOnce(outgoing, call, options));
    } catch (error) {
      if (!(error instanceof ScalewayError)) throw error;
      if (error.kind === 'rate limited') rateLimit.pause(error.retryAfter ?? 0);
      const wait = retryDelay({ error, repeatable, attempt, maxAttempts, maxWaitMs, jitter: options.random() });
      if (wait === undefined) throw error;
      await sleepFor(clock, wait, call.signal);
    }
  }
};

const sendOnce = async (outgoing: OutgoingRequest, call: Call, options: TransportOptions): Promise<unknown> => {
  const { clock, redaction } = options;
  const { what, operation, signal } = call;
  const got = await fetchOnce(outgoing, { ...options, what, signal });
  if (got.status < 200 || got.status > 299)
    throw errorFromResponse(got, { what, operation, now: clock.now(), redaction });
  return parseResponse(call.answer, got, what);
};

const waitForRateLimit = async (call: Call, options: TransportOptions): Promise<void> => {
  await waitWhilePaused(call, options);
  await sleepFor(options.clock, options.rateLimit.reserve(), call.signal);
  // Somebody else may have been told to be quiet while this one waited for its turn.
  await waitWhilePaused(call, options);
};

const waitWhilePaused = async (
  { what, signal }: Call,
  { clock, rateLimit, maxWaitMs }: TransportOptions,
): Promise<void> => {
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

const withReport = async <T>(call: Call, { clock, onCall }: TransportOptions, ask: () => Promise<T>): Promise<T> => {
  const { operation } = call;
  const start = clock.monotonic();
  const report = (outcome: CallReport['outcome']): void =>
    onCall({ operation, outcome, milliseconds: clock.monotonic() - start });
  try {
    const value = await ask();
    report('ok');
    return value;
  } catch (error) {
    report(error instanceof ScalewayError ? error.kind : 'aborted');
    throw error;
  }
};
