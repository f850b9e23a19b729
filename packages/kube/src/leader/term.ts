import { type Clock, sleep } from '../clock/index.ts';
import type { ElectionDurations } from './durations.ts';
import { createTermGate, type Gate, type Instant, type TermGate } from './gate.ts';
import type { LeaseAttempt, LeaseCandidate } from './lease-candidate.ts';

/** Leader-only work. Must end soon after `signal` fires, and check `gate` before every destructive call. */
export type OnStartedLeading = (signal: AbortSignal, gate: Gate) => Promise<void>;

export type WorkEnd = { kind: 'returned' } | { kind: 'threw'; error: unknown };

/** One term of leadership: from the acquired lease to the end of `lead`. */
export interface Term {
  readonly gate: TermGate;
  /** Resolves with the reason when the lease is lost; otherwise never. */
  readonly lost: Promise<string>;
  /** Starts `lead`. */
  start(): void;
  /** How `lead` ended. Never rejects. */
  readonly ended: Promise<WorkEnd>;
  cancel(reason: Error): void;
  /** Resolves when no renewal is running any more. */
  stopRenewing(): Promise<void>;
}

interface TermOptions {
  clock: Clock;
  durations: ElectionDurations;
  candidate: LeaseCandidate;
  lease: string;
  /** When the write that acquired the lease was sent. */
  sent: Instant;
  lead: OnStartedLeading;
  /** The delay before the next renewal. */
  pauseAfter: (attempt: LeaseAttempt) => number;
  onFailure: (error: unknown) => void;
}

/**
 * Renews every retry period. Each attempt and each pause ends at the renew deadline, counted from when the last successful
 * renewal was sent. After the deadline it does not try: another candidate may lead.
 * Uses the monotonic clock: setting the wall clock does not end leadership (the gate is stricter).
 */
const renewUntilLost = async (options: TermOptions, gate: TermGate, stop: AbortSignal): Promise<string | undefined> => {
  const { clock, durations, candidate, pauseAfter, onFailure } = options;
  let renewedAt = options.sent.monotonic;
  let attempt: LeaseAttempt = { kind: 'held', sent: options.sent };
  const rest = (): number => durations.renewDeadlineMs - (clock.monotonic() - renewedAt);
  for (;;) {
    if (rest() > 0) await sleep(clock, Math.min(pauseAfter(attempt), rest()), stop);
    if (stop.aborted) return undefined;
    if (rest() <= 0) return `the lease could not be renewed within ${durations.renewDeadlineMs} ms`;
    attempt = await candidate.renew(rest());
    switch (attempt.kind) {
      case 'held':
        renewedAt = attempt.sent.monotonic;
        gate.renewed(attempt.sent);
        break;
      case 'heldByOther':
        return attempt.holder === ''
          ? 'another client removed the holder from the lease'
          : `the lease names ${attempt.holder}`;
      case 'failed':
        onFailure(attempt.error);
    }
  }
};

/** Starts renewing at once; `start` starts `lead`. */
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
