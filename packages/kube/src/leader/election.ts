import type { Clock, Random } from '../clock/index.ts';
import { isKubeError } from '../errors/kube-error.ts';
import type { Logger } from '../logs/logger.ts';
import { keyOf } from '../objects/object.ts';
import { type Attempt, type Contender, createContender, type LeaseClient } from './contender.ts';
import { checkDurations, type Durations, usualDurations } from './durations.ts';
import { type Gate, NotLeadingError } from './gate.ts';
import type { State } from './states.ts';
import { createSteps } from './steps.ts';
import type { Lead } from './term.ts';

/** Told of each change: `leader_election_master_status` by the name of the lease. Who leads also says how often it has changed hands. */
export type LeadingMetric = (lease: string, leads: boolean, transitions?: number) => void;

export interface ElectionOptions {
  client: LeaseClient;
  clock: Clock;
  random: Random;
  lease: { namespace: string; name: string };
  /** Unique to this process, also among its own restarts: a host name and something random. */
  identity: string;
  /** 15, 10 and 2 seconds unless told. */
  durations?: Durations;
  /** How long `lead` may take to end once it has been told to. 30 s unless told. */
  settleMs?: number;
  log: Logger;
  metrics?: LeadingMetric;
}

/**
 * Leads when nobody else does.
 * Guarantees: of all candidates for a lease, at most one passes its gate at any instant; `lead` is told to end before another can
 * start, is not started again before it has ended, and the lease is given back only after that.
 * Assumptions: no two processes have the same identity; nobody edits or deletes the Lease by hand; the clocks of the candidates
 * run at about the same speed (durations.ts). What time they show does not matter.
 */
export interface LeaderElection {
  /**
   * Resolves with `stopped` when `signal` fired, or `lead` returned by itself: nothing runs any more, and the lease was given back.
   * Resolves with `lost` when `lead` was told to end and did not in time: end the process.
   * Rejects with what `lead` threw without having been told to end; the lease was given back.
   */
  run(signal: AbortSignal, lead: Lead): Promise<'stopped' | 'lost'>;
  /** That of whatever term it is. `lead` gets one of its own, which does not open again in a later term. */
  readonly gate: Gate;
}

export const createLeaderElection = (options: ElectionOptions): LeaderElection => {
  const { client, clock, random, identity, metrics, settleMs = 30_000 } = options;
  const durations = checkDurations(options.durations ?? usualDurations);
  if (identity === '') throw new RangeError('A candidate needs an identity that no other process has; it was empty.');
  const lease = keyOf(options.lease);
  const log = options.log.with({ lease, identity });
  let contender: Contender | undefined;
  let current: State | undefined;

  /** A lease that was given back lies idle for one retry period at most. Longer pauses only if the server asks for them. */
  const pauseAfter = (attempt: Attempt): number => {
    const usual = durations.retryPeriodMs * (1 - 0.2 * random());
    if (attempt.kind === 'theirs') return Math.min(usual, attempt.forMs);
    const asked = attempt.kind === 'failed' && isKubeError(attempt.error) ? (attempt.error.retryAfterMs ?? 0) : 0;
    return Math.max(usual, Math.min(asked, durations.renewDeadlineMs / 2));
  };

  /** The one place where the state changes. */
  const enter = (state: State): State => {
    log.debug('election state', { from: current?.name, to: state.name });
    if (state.name === 'leading') log.info('this process leads');
    if (state.name === 'yielding') log.warn('this process no longer leads', { why: state.why });
    if (state.name === 'lost') log.error('leader-only work did not end in time', { settleMs });
    const leads = state.name === 'leading' || state.name === 'draining';
    metrics?.(options.lease.name, leads, leads ? contender?.transitions : undefined);
    current = state;
    return state;
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
      contender = createContender({ client, clock, lease: options.lease, identity, durations });
      const step = createSteps({ contender, clock, durations, settleMs, lease, log, pauseAfter, signal, lead });
      let state = enter({ name: 'following' });
      while (state.name !== 'stopped' && state.name !== 'lost') state = enter(await step(state));
      if (state.name === 'stopped' && state.ending.kind === 'threw') throw state.ending.error;
      return state.name;
    },
  };
};
