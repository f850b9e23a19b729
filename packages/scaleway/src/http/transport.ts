import { type Clock, type Random, sleep } from '@tartan/kube/clock';
import type { z } from 'zod';
import { heldBack } from '../errors/failures.ts';
import type { Redaction } from '../errors/redaction.ts';
import { refused } from '../errors/refusal.ts';
import { type OperationName, operations } from '../operations.ts';
import { ScalewayError, type ScalewayErrorKind } from '../scaleway-error.ts';
import { readAnswer } from '../wire/read-answer.ts';
import { askOnce, type Outgoing } from './ask-once.ts';
import { waitBeforeNextTry } from './next-try.ts';
import type { RateLimit } from './rate-limit.ts';

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
  readonly limit: RateLimit;
  readonly deadline: number;
  readonly tries: number;
  readonly longestWait: number;
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
export const send = async (outgoing: Outgoing, call: Call, options: TransportOptions): Promise<unknown> => {
  const { repeatable } = operations[call.operation];
  const { clock, limit, tries, longestWait } = options;
  for (let tried = 1; ; tried += 1) {
    await waitForTurn(call, options);
    try {
      return await reported(call, options, () => sendOnce(outgoing, call, options));
    } catch (error) {
      if (!(error instanceof ScalewayError)) throw error;
      if (error.kind === 'rate limited') limit.hold(error.retryAfter ?? 0);
      const wait = waitBeforeNextTry({ error, repeatable, tried, tries, longestWait, jitter: options.random() });
      if (wait === undefined) throw error;
      await pause(clock, wait, call.signal);
    }
  }
};

const sendOnce = async (outgoing: Outgoing, call: Call, options: TransportOptions): Promise<unknown> => {
  const { clock, redaction } = options;
  const { what, operation, signal } = call;
  const got = await askOnce(outgoing, { ...options, what, signal });
  if (got.status < 200 || got.status > 299) throw refused(got, { what, operation, now: clock.now(), redaction });
  return readAnswer(call.answer, got, what);
};

const waitForTurn = async (call: Call, options: TransportOptions): Promise<void> => {
  await outlastHold(call, options);
  await pause(options.clock, options.limit.reserve(), call.signal);
  // Somebody else may have been told to be quiet while this one waited for its turn.
  await outlastHold(call, options);
};

const outlastHold = async ({ what, signal }: Call, { clock, limit, longestWait }: TransportOptions): Promise<void> => {
  for (let held = limit.heldFor(); held > 0; held = limit.heldFor()) {
    if (held > longestWait) throw heldBack(what, held);
    await pause(clock, held, signal);
  }
};

const never = new AbortController().signal;

const pause = async (clock: Clock, milliseconds: number, signal: AbortSignal = never): Promise<void> => {
  if (milliseconds > 0) await sleep(clock, milliseconds, signal);
  signal.throwIfAborted();
};

const reported = async <T>(call: Call, { clock, onCall }: TransportOptions, ask: () => Promise<T>): Promise<T> => {
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
