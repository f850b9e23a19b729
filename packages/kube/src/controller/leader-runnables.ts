import type { Clock } from '../clock/clock.ts';
import { untilAborted } from '../errors/abort-signal.ts';
import type { Logger } from '../logs/logger.ts';
import { type Fail, type Runnable, startRunnable, stopRunnables } from './runnable.ts';

interface LeaderRunnableOptions {
  leaderOnly: readonly Runnable[];
  leaderElection?: LeaderElector | undefined;
  /** How long leader-only work may take to stop when the process stops, and the lease is still renewed meanwhile. */
  stopMs: number;
  clock: Clock;
  log: Logger;
  fail: Fail;
}

/** The same when leadership is lost: a lease of 15 s that is given up after 10 s leaves 5. */
const lostStopMs = 4_000;

/**
 * Leader election with leader-only work, as one part of a manager.
 * Guarantees: leader-only work runs only between the call of `lead` and the firing of its signal plus the time to stop, and never
 * longer than the election itself. When it cannot be stopped this part fails, so that the process ends, and `lead` never settles,
 * so that the lease is not given back.
 */
export const createLeaderRunnable = (options: LeaderRunnableOptions): Runnable => {
  const { leaderOnly, leaderElection = alwaysLeader, clock, log, fail } = options;

  /** Answers what could not be stopped. */
  const lead = async (leading: AbortSignal, stopping: AbortSignal, electionOver: AbortSignal): Promise<string[]> => {
    log.info('Leading: leader-only work starts', { parts: leaderOnly.map(({ name }) => name) });
    const parts = leaderOnly.map((runnable) => startRunnable(runnable, fail));
    await untilAborted(AbortSignal.any([leading, electionOver]));
    const lost = leading.aborted && !stopping.aborted;
    if (lost) log.warn('Leadership is lost: leader-only work stops');
    const left = await stopRunnables(clock, parts, stopping.aborted ? options.stopMs : lostStopMs);
    if (left.length > 0) return left;
    log.info('Leader-only work has stopped');
    if (lost) fail(leadershipLost);
    return [];
  };

  return {
    name: 'leader election',
    run: async (signal) => {
      const stuck = Promise.withResolvers<never>();
      const electionOver = new AbortController();
      const terms: Promise<void>[] = [];
      const runTerm = async (leading: AbortSignal): Promise<void> => {
        const left = await lead(leading, signal, electionOver.signal);
        if (left.length === 0) return;
        stuck.reject(new Error(`leader-only work could not be stopped: ${left.join('; ')}. ${mustEnd}`));
        await new Promise(() => {});
      };
      const begin = (leading: AbortSignal): Promise<void> => {
        const over = runTerm(leading);
        terms.push(over);
        return over;
      };
      try {
        await Promise.race([leaderElection.run(signal, begin), stuck.promise]);
      } finally {
        // An election that ends without a word to its leader must not leave the leader working.
        electionOver.abort();
        await Promise.race([Promise.allSettled(terms), stuck.promise]);
      }
    },
  };
};

const mustEnd = 'The process must end, so that this work cannot clash with that of another leader';
const leadershipLost =
  'leadership was lost: the lease was not renewed in time, or somebody else took it. The process ends in order to begin afresh; it takes part in the election again when it is restarted';

/** What a manager needs of leader election. That of `leader/` fits. */
export interface LeaderElector {
  /**
   * Takes part until `signal` fires. Calls `lead` whenever this process becomes the leader, never twice at the same time. The signal
   * of `lead` fires when leadership is lost, or when `signal` has fired; in the latter case the lease is renewed until `lead` has
   * ended, and given back after that. A `lead` that cannot end its work never settles: then the lease must not be given back.
   * Resolves when all of that is over. Rejects when it cannot take part.
   */
  run(signal: AbortSignal, lead: (leading: AbortSignal) => Promise<void>): Promise<unknown>;
}

/** For a process that is alone. */
const alwaysLeader: LeaderElector = { run: (signal, lead) => lead(signal) };
