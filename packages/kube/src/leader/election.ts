import { type Clock, type Random, sleep } from '../clock/index.ts';
import { untilAborted } from '../errors/abort-signal.ts';
import { isKubeError } from '../errors/kube-error.ts';
import type { Logger } from '../logs/logger.ts';
import { keyOf } from '../objects/object.ts';
import { defaultElectionDurations, durationsProblem, type ElectionDurations } from './durations.ts';
import { type Gate, NotLeadingError } from './gate.ts';
import { createLeaseCandidate, type LeaseAttempt, type LeaseClient } from './lease-candidate.ts';
import { type OnStartedLeading, startTerm, type Term, type WorkEnd } from './term.ts';

/** Called after each change: sets `leader_election_master_status` of the lease. The leader also passes the number of lease transitions. */
export type LeaderMetric = (lease: string, leads: boolean, transitions?: number) => void;

export interface ElectionOptions {
  client: LeaseClient;
  clock: Clock;
  random: Random;
  lease: { namespace: string; name: string };
  /** Unique to this process, even across restarts: a host name and something random. */
  identity: string;
  /** 15, 10 and 2 seconds by default. */
  durations?: ElectionDurations;
  /** How long `lead` may take to end after its signal fired. 30 s by default. */
  gracePeriodMs?: number;
  log: Logger;
  metrics?: LeaderMetric;
}

/**
 * Guarantees: of all candidates for a lease, at most one passes its gate at any instant; the signal of `lead` fires before
 * another candidate can start, `lead` is not started again before it has ended, and the lease is released only after that.
 * Assumptions: identities are unique; nobody edits or deletes the Lease by hand; the candidates' clocks run at about the same
 * speed (durations.ts). Their absolute times do not matter.
 */
export interface LeaderElection {
  /**
   * Resolves with `stopped` when `signal` fired, or `lead` returned by itself: nothing runs any more, and the lease was released.
   * Resolves with `lost` when `lead` did not end in time after its signal fired: end the process.
   * Rejects with the error of a `lead` whose signal had not fired; the lease was released.
   */
  run(signal: AbortSignal, lead: OnStartedLeading): Promise<'stopped' | 'lost'>;
  /** The gate of the current term. `lead` gets the gate of its own term, which stays closed in later terms. */
  readonly gate: Gate;
}

/**
 * The allowed transitions. docs/leader-election.md draws the same diagram (a test compares them), the step functions' types
 * enforce them, and the tests cover each of them.
 */
export const stateTransitions = {
  following: ['leading', 'releasing', 'stopped'],
  leading: ['draining', 'yielding', 'releasing'],
  draining: ['yielding', 'releasing', 'lost'],
  yielding: ['following', 'stopped', 'lost'],
  releasing: ['stopped'],
  stopped: [],
  lost: [],
} as const;

type StateName = keyof typeof stateTransitions;

type ElectionState =
  /** Does not lead. Reads the Lease every retry period and acquires it when it is free. */
  | { name: 'following' }
  /** `lead` runs, the lease is renewed every retry period, the gate is open. */
  | { name: 'leading'; term: Term }
  /**
   * The process stops, and the signal of `lead` has fired. Until `lead` ends, the lease is renewed and the gate stays open: it can
   * finish its work while no other candidate starts.
   */
  | { name: 'draining'; term: Term }
  /**
   * The lease is lost, or could not be renewed in time. The gate is closed; the signal of `lead` has fired, and we wait
   * for its end.
   */
  | { name: 'yielding'; term: Term; why: string }
  /** `lead` has ended or never started. The gate is closed, the lease is being released. */
  | { name: 'releasing'; term?: Term; ending: WorkEnd }
  /** Final: nothing runs any more. */
  | { name: 'stopped'; ending: WorkEnd }
  /** Final: `lead` did not end in time. It may still run, behind a closed gate; the process must end. */
  | { name: 'lost' };

type StateOf<N extends StateName> = Extract<ElectionState, { name: N }>;

/** The states that may follow. */
type NextState<N extends StateName> = StateOf<(typeof stateTransitions)[N][number]>;

const returnedNormally: WorkEnd = { kind: 'returned' };

export const createLeaderElection = (options: ElectionOptions): LeaderElection => {
  const { client, clock, random, identity, metrics, gracePeriodMs = 30_000 } = options;
  const { durations = defaultElectionDurations } = options;
  const problem = durationsProblem(durations);
  if (problem !== undefined) throw new RangeError(`The durations of the leader election make no sense: ${problem}.`);
  if (identity === '') throw new RangeError('A candidate needs an identity that no other process has; it was empty.');
  const lease = keyOf(options.lease);
  const log = options.log.with({ lease, identity });
  const candidate = createLeaseCandidate({ client, clock, lease: options.lease, identity, durations });
  let current: ElectionState | undefined;

  /** A released lease is acquired within one retry period. Longer pauses only if the server asks for them. */
  const pauseAfter = (attempt: LeaseAttempt): number => {
    const usual = durations.retryPeriodMs * (1 - 0.2 * random());
    if (attempt.kind === 'heldByOther') return Math.min(usual, attempt.forMs);
    const asked = attempt.kind === 'failed' && isKubeError(attempt.error) ? (attempt.error.retryAfterMs ?? 0) : 0;
    return Math.max(usual, Math.min(asked, durations.renewDeadlineMs / 2));
  };

  /** The only place that changes the state. */
  const enter = (state: ElectionState): ElectionState => {
    log.debug('election state', { from: current?.name, to: state.name });
    if (state.name === 'leading') log.info('this process leads');
    if (state.name === 'yielding') log.warn('this process no longer leads', { why: state.why });
    if (state.name === 'lost') log.error('leader-only work did not end in time', { settleMs: gracePeriodMs });
    const leads = state.name === 'leading' || state.name === 'draining';
    metrics?.(options.lease.name, leads, leads ? candidate.transitions : undefined);
    current = state;
    return state;
  };

  /** One function per state: executes the state and returns the next one. None of them rejects. */
  const createSteps = (signal: AbortSignal, lead: OnStartedLeading) => {
    const stop = untilAborted(signal);

    const follow = async (): Promise<NextState<'following'>> => {
      let holder: string | undefined;
      while (!signal.aborted) {
        const attempt = await candidate.acquire(signal);
        if (signal.aborted) break;
        if (attempt.kind === 'held') {
          const onFailure = (error: unknown): void => log.warn('lease not renewed, trying again', { error });
          const term = { clock, durations, candidate, lease, sent: attempt.sent, lead, pauseAfter, onFailure };
          return { name: 'leading', term: startTerm(term) };
        }
        if (attempt.kind === 'failed') {
          const outrun = isKubeError(attempt.error, 'conflict', 'alreadyExists');
          log[outrun ? 'debug' : 'warn']('lease not acquired, trying again', { error: attempt.error });
        } else if (attempt.holder !== holder) {
          holder = attempt.holder;
          log.info('another process leads', { holder });
        }
        await sleep(clock, pauseAfter(attempt), signal);
      }
      // A write just before the stop acquired the lease, or may have.
      return { name: candidate.mayHold ? 'releasing' : 'stopped', ending: returnedNormally };
    };

    /** An error of `lead` counts only if its signal had not fired. */
    const ignoreErrorIfStopping = (ending: WorkEnd, asked: boolean): WorkEnd => {
      if (ending.kind === 'threw' && asked) log.info('leader-only work ended with an error', { error: ending.error });
      return asked ? returnedNormally : ending;
    };

    const holdLease = ({ term }: StateOf<'leading'>): Promise<NextState<'leading'>> => {
      term.start();
      return Promise.race([
        term.lost.then((why) => ({ name: 'yielding' as const, term, why })),
        stop.then(() => ({ name: 'draining' as const, term })),
        term.ended.then((ending) => ({
          name: 'releasing' as const,
          term,
          ending: ignoreErrorIfStopping(ending, signal.aborted),
        })),
      ]);
    };

    const orLost = async <S>(...ways: readonly Promise<S>[]): Promise<S | StateOf<'lost'>> => {
      const waiting = new AbortController();
      try {
        const tooLate = sleep(clock, gracePeriodMs, waiting.signal).then(() => ({ name: 'lost' as const }));
        return await Promise.race([...ways, tooLate]);
      } finally {
        waiting.abort();
      }
    };

    const drain = async ({ term }: StateOf<'draining'>): Promise<NextState<'draining'>> => {
      term.cancel(new Error('This process is stopping.'));
      const next = await orLost<StateOf<'yielding' | 'releasing'>>(
        term.lost.then((why) => ({ name: 'yielding', term, why })),
        term.ended.then((ending) => ({ name: 'releasing', term, ending: ignoreErrorIfStopping(ending, true) })),
      );
      if (next.name === 'lost') {
        term.gate.close('it is stopping');
        void term.stopRenewing();
      }
      return next;
    };

    const yieldLease = ({ term, why }: StateOf<'yielding'>): Promise<NextState<'yielding'>> => {
      term.gate.close(why);
      term.cancel(new NotLeadingError(lease, why));
      return orLost<StateOf<'following' | 'stopped'>>(
        term.ended.then((ending) => {
          ignoreErrorIfStopping(ending, true);
          return signal.aborted ? { name: 'stopped', ending: returnedNormally } : { name: 'following' };
        }),
      );
    };

    const release = async ({ term, ending }: StateOf<'releasing'>): Promise<NextState<'releasing'>> => {
      term?.gate.close('it has given the lease back');
      await term?.stopRenewing();
      if (await candidate.release()) log.info('lease given back');
      else log.warn('lease not given back, it will expire');
      return { name: 'stopped', ending };
    };

    return (state: ElectionState): Promise<ElectionState> => {
      switch (state.name) {
        case 'following':
          return follow();
        case 'leading':
          return holdLease(state);
        case 'draining':
          return drain(state);
        case 'yielding':
          return yieldLease(state);
        case 'releasing':
          return release(state);
        case 'stopped':
        case 'lost':
          return Promise.resolve(state);
      }
    };
  };

  return {
    gate: {
      pass: () => {
        if (current === undefined || !('term' in current) || current.term === undefined) {
          throw new NotLeadingError(lease, 'another process does, or none yet');
        }
        return current.term.gate.pass();
      },
    },
    run: async (signal, lead) => {
      if (current !== undefined) throw new Error('A leader election runs once: make another one to run again.');
      const step = createSteps(signal, lead);
      let state = enter({ name: 'following' });
      while (state.name !== 'stopped' && state.name !== 'lost') state = enter(await step(state));
      if (state.name === 'stopped' && state.ending.kind === 'threw') throw state.ending.error;
      return state.name;
    },
  };
};
