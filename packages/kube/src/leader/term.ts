import { type Clock, sleep } from '../clock/index.ts';
import type { ElectionDurations } from './durations.ts';
import { createTermGate, type Gate, type Instant, type TermGate } from './gate.ts';
import type { LeaseAttempt, LeaseCandidate } from './lease-candidate.ts';

/** What runs only while this process leads. Ends soon after `signal` fires. Every destructive act of it passes `gate`. */
export type OnStartedLeading = (signal: AbortSignal, gate: Gate) => Promise<void>;

export type WorkEnd = { kind: 'returned' } | { kind: 'threw'; error: unknown };

/** One term of leadership: from having got the lease to `lead` having ended. */
export interface Term {
  readonly gate: TermGate;
  /** Resolves with the reason once the lease is lost; never, if it is not. */
  readonly lost: Promise<string>;
  /** Starts `lead`. */
  start(): void;
  /** How `lead` ended. Never rejects. */
  readonly ended: Promise<WorkEnd>;
  cancel(reason: Error): void;
  /** Resolves when no renewal is under way any more. */
  stopRenewing(): Promise<void>;
}

interface TermOptions {
  clock: Clock;
  durations: ElectionDurations;
  contender: LeaseCandidate;
  lease: string;
  /** When the write was sent that got the lease. */
  sent: Instant;
  lead: OnStartedLeading;
  /** How long to wait before the next renewal. */
  pauseAfter: (attempt: LeaseAttempt) => number;
  onFailure: (error: unknown) => void;
}

/**
 * Flow: renews every retry period; each try and each pause ends with the renew deadline at the latest, which counts from when the
 * last successful renewal was sent. Past it, a process does not even try: by then another may lead.
 * The deadline is the monotonic clock's: setting the wall clock costs nobody its leadership (the gate is stricter).
 */
const renewUntilLost = async (options: TermOptions, gate: TermGate, stop: AbortSignal): Promise<string | undefined> => {
  const { clock, durations, contender, pauseAfter, onFailure } = options;
  let renewedAt = options.sent.monotonic;
  let attempt: LeaseAttempt = { kind: 'held', sent: options.sent };
  const rest = (): number => durations.renewDeadlineMs - (clock.monotonic() - renewedAt);
  for (;;) {
    if (rest() > 0) await sleep(clock, Math.min(pauseAfter(attempt), rest()), stop);
    if (stop.aborted) return undefined;
    if (rest() <= 0) return `the lease could not be renewed within ${durations.renewDeadlineMs} ms`;
    attempt = await contender.renew(rest());
    switch (attempt.kind) {
      case 'held':
        renewedAt = attempt.sent.monotonic;
        gate.renewed(attempt.sent);
        break;
      case 'heldByOther':
        return attempt.holder === '' ? 'somebody has emptied the lease' : `the lease names ${attempt.holder}`;
      case 'failed':
        onFailure(attempt.error);
    }
  }
};

/** Renewing starts at once, `lead` with `begin`. */
export const startTerm = (options: TermOptions): Term => {
  const { clock, durations, lease, sent, lead } = options;
  const leading = new AbortController();
  const renewing = new AbortController();
  const gate = createTermGate({ clock, renewDeadlineMs: durations.renewDeadlineMs, lease, sent });
  const renewal = renewUntilLost(options, gate, renewing.signal);
  const { promise: ended, resolve: end } = Promise.withResolvers<WorkEnd>();
  const { promise: lost, resolve: lose } = Promise.withResolvers<string>();
  void renewal.then((why) => why !== undefined && lose(why));
  const run = async (): Promise<WorkEnd> => {
    try {
      await lead(leading.signal, gate);
      return { kind: 'returned' };
    } catch (error) {
      return { kind: 'threw', error };
    }
  };
  return {
    gate,
    lost,
    ended,
    start: () => end(run()),
    cancel: (reason) => leading.abort(reason),
    stopRenewing: async () => {
      renewing.abort();
      await renewal;
    },
  };
};
