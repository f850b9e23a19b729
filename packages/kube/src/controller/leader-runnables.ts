import type { Clock } from '../clock/clock.ts';
import { untilAborted } from '../errors/abort-signal.ts';
import type { Logger } from '../logs/logger.ts';
import { type Fail, type Runnable, startRunnable, stopRunnables } from './runnable.ts';

interface LeaderRunnableOptions {
  leaderOnly: readonly Runnable[];
  leaderElection?: LeaderElector | undefined;
  /** How long leader-only runnables may take to stop when the process stops. The lease is renewed meanwhile. */
  stopMs: number;
  clock: Clock;
  log: Logger;
  fail: Fail;
}

/** The same after leadership was lost: the lease lasts 15 s and the leader gives up after 10 s, which leaves 5 s. */
const lostStopMs = 4_000;

/**
 * Leader election and the leader-only runnables, as one runnable of a manager.
 * Guarantees: leader-only runnables run only from the call of `lead` until its signal plus the time to stop, and never longer
 * than the election itself. If one cannot be stopped, this runnable fails, so that the process exits, and `lead` never settles,
 * so that the lease is not released.
 */
export const createLeaderRunnable = (options: LeaderRunnableOptions): Runnable => {
  const { leaderOnly, leaderElection = alwaysLeader, clock, log, fail } = options;

  /** Resolves with the names of runnables that did not stop. */
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
        // Stops the leader's work if the election ends without firing its signal.
        electionOver.abort();
        await Promise.race([Promise.allSettled(terms), stuck.promise]);
      }
    },
  };
};

const mustEnd = 'The process must end, so that this work cannot clash with that of another leader';
const leadershipLost =
  'leadership was lost: the lease was not renewed in time, or another process acquired it. The process exits; after its restart it takes part in the election again';

/** The manager's view of leader election, implemented in `leader/`. */
export interface LeaderElector {
  /**
   * Campaigns until `signal` fires. Calls `lead` whenever this process becomes the leader, never concurrently. The signal of `lead`
   * fires when leadership is lost or `signal` has fired; in the latter case the lease is renewed until `lead` ends, then released. A
   * `lead` that cannot stop its work never settles: then the lease must not be released. Resolves when all of that is over. Rejects
   * when it cannot campaign.
   */
  run(signal: AbortSignal, lead: (leading: AbortSignal) => Promise<void>): Promise<unknown>;
}

/** For a single replica. */
const alwaysLeader: LeaderElector = { run: (signal, lead) => lead(signal) };
