import type { Clock } from '../clock/clock.ts';
import type { Logger } from '../logs/logger.ts';
import { fired } from './fired.ts';
import { alwaysLeading, type LeaderElection } from './leader-election.ts';
import { type Fail, type Runnable, startPart, stopParts } from './part.ts';

export interface LeadOptions {
  leaderOnly: readonly Runnable[];
  leaderElection?: LeaderElection | undefined;
  whenLeadershipIsLost: 'end' | 'waitToLeadAgain';
  /** How long leader-only work may take to stop when leadership is lost. */
  lostStopMs: number;
  /** The same when the process stops, and the lease is still renewed meanwhile. */
  stopMs: number;
  clock: Clock;
  log: Logger;
  fail: Fail;
}

/**
 * Leader election with leader-only work, as one part of a manager.
 * Guarantees: leader-only work runs only between the call of `lead` and the firing of its signal plus the time to stop, and never
 * longer than the election itself. When it cannot be stopped this part fails, so that the process ends, and `lead` never settles,
 * so that the lease is not given back.
 */
export const leadership = (options: LeadOptions): Runnable => {
  const { leaderOnly, leaderElection = alwaysLeading, whenLeadershipIsLost, clock, log, fail } = options;

  /** Answers what could not be stopped. */
  const lead = async (leading: AbortSignal, stopping: AbortSignal, electionOver: AbortSignal): Promise<string[]> => {
    log.info('Leading: leader-only work starts', { parts: leaderOnly.map(({ name }) => name) });
    const parts = leaderOnly.map((runnable) => startPart(runnable, fail));
    await fired(AbortSignal.any([leading, electionOver]));
    const lost = leading.aborted && !stopping.aborted;
    if (lost) log.warn('Leadership is lost: leader-only work stops');
    const left = await stopParts(clock, parts, stopping.aborted ? options.stopMs : options.lostStopMs);
    if (left.length > 0) return left;
    log.info('Leader-only work has stopped');
    if (lost && whenLeadershipIsLost === 'end') fail(leadershipLost);
    return [];
  };

  return {
    name: 'leader election',
    run: async (signal) => {
      const stuck = Promise.withResolvers<never>();
      const electionOver = new AbortController();
      const reigns: Promise<void>[] = [];
      const reign = async (leading: AbortSignal): Promise<void> => {
        const left = await lead(leading, signal, electionOver.signal);
        if (left.length === 0) return;
        stuck.reject(new Error(`leader-only work could not be stopped: ${left.join('; ')}. ${mustEnd}`));
        await new Promise(() => {});
      };
      const begin = (leading: AbortSignal): Promise<void> => {
        const over = reign(leading);
        reigns.push(over);
        return over;
      };
      try {
        await Promise.race([leaderElection.run(signal, begin), stuck.promise]);
      } finally {
        // An election that ends without a word to its leader must not leave the leader working.
        electionOver.abort();
        await Promise.race([Promise.allSettled(reigns), stuck.promise]);
      }
    },
  };
};

const mustEnd = 'The process must end, so that this work cannot clash with that of another leader';
const leadershipLost =
  'leadership was lost: the lease was not renewed in time, or somebody else took it. The process ends in order to begin afresh; it takes part in the election again when it is restarted';
