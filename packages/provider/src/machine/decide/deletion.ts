import type { CleanUpReason, Decision } from '../decision.ts';
import type { PresentHost } from '../observe/host.ts';
import { intervals } from '../requeue.ts';
import type { RunnerFacts, Snapshot } from '../snapshot.ts';

const cleanUp = (reason: CleanUpReason): Extract<Decision, { kind: 'clean up' }> => ({ kind: 'clean up', reason });

/**
 * The deletion. First the runner of a builder, as a wipe would end its job; then the Mac. The machine's objects are deleted once the disk
 * is being erased, so that no agent registers its Node again. Every row can be repeated after a crash, and none undoes an earlier one.
 *
 *   | the Mac                                | then                                                       |
 *   |----------------------------------------|------------------------------------------------------------|
 *   | none, or gone at Scaleway              | clean up                                                   |
 *   | has no MacHost, but will get one again | wait                                                       |
 *   | abandoned by a user                    | clean up: the Mac stays as it is                           |
 *   | held by this machine, pool known       | its runner, then the release                               |
 *   | held by this machine, pool unknown     | its runner, then clean up: the Mac stays as it is          |
 *   | being released, wipe begun             | clean up                                                   |
 *   | being released, Scaleway does not wipe | wait; clean up once it is stuck, an hour after the release |
 *   | not held by this machine               | clean up                                                   |
 *
 * A Mac that is not wiped still has its agent. Its machine is deleted all the same: one locked server must not block a deletion, a
 * remediation or an uninstall for ever. The agent's certificate is no longer renewed, and its Node is deleted here; if the agent registers
 * it again, the MacHost controller cordons it, and deletes it when the Mac is wiped.
 */
export const decideDeletion = (snapshot: Snapshot): Decision => {
  const { machine, host } = snapshot;
  if (!machine.hasFinalizer) return { kind: 'ignore' };
  switch (host.kind) {
    case 'none':
      return cleanUp('no host');
    case 'absent':
      return host.server === 'gone'
        ? cleanUp('host gone')
        : { kind: 'await wipe', message: host.message, forMs: intervals.poll };
    case 'present':
      return decideHostRelease(snapshot, host);
  }
};

const decideHostRelease = ({ machine, runner }: Snapshot, host: PresentHost): Decision => {
  if (host.gone) return cleanUp('host gone');
  if (host.abandoned) return leaveAbandoned(runner);
  if (host.holder === 'me') {
    const runnerDecision = decideRunner(runner);
    if (runnerDecision.kind !== 'proceed') return runnerDecision;
    const left = runnerDecision.runnerLeft === undefined ? {} : { runnerLeft: runnerDecision.runnerLeft };
    const poolPrefix = host.poolPrefix ?? machine.poolPrefix;
    return poolPrefix === undefined ? { ...cleanUp('skipped'), ...left } : { kind: 'release', poolPrefix, ...left };
  }
  if (host.release === undefined || host.release.begun) return cleanUp('released');
  return host.release.stuck
    ? cleanUp('not wiped')
    : { kind: 'await wipe', message: host.message, forMs: intervals.resync };
};

/** Nothing ends the job of its runner, so the deletion does not wait for it; an idle runner is removed, so that it gets no job. */
const leaveAbandoned = (runner: RunnerFacts): Decision => {
  if (runner.kind === 'there' && !runner.isBusy) return { kind: 'remove runner', id: runner.id };
  const isLeft = runner.kind === 'there' || runner.kind === 'unknown';
  const runnerLeft = 'Its runner may still be on the list at GitHub: remove it there.';
  return { ...cleanUp('abandoned'), ...(isLeft && { runnerLeft }) };
};

/** How long an unreachable GitHub delays the release of a Mac, which costs money meanwhile. */
const githubGracePeriodMs = 10 * 60_000;
/** The same for a runner that had a job: GitHub's default timeout of a job. */
const longestJobMs = 6 * 3_600_000;

type RunnerDecision = Extract<Decision, { kind: 'await runner' | 'remove runner' }>;

/**
 * The runner of a builder whose Mac is to be released.
 *
 *   | GitHub reports              | then                                                     |
 *   |-----------------------------|----------------------------------------------------------|
 *   | nothing, as it is not asked | release the Mac                                          |
 *   | no runner                   | release the Mac                                          |
 *   | an idle runner              | remove the runner, so that it gets no job                |
 *   | a runner with a job         | wait for the job: a wipe would end it                    |
 *   | nothing for a while         | wait                                                     |
 *   | nothing for long            | release the Mac; GitHub deletes runners that are offline |
 */
const decideRunner = (
  runner: RunnerFacts,
): RunnerDecision | { readonly kind: 'proceed'; readonly runnerLeft?: string } => {
  switch (runner.kind) {
    case 'not asked':
    case 'none':
      return { kind: 'proceed' };
    case 'there':
      return runner.isBusy
        ? { kind: 'await runner', message: runnerBusyMessage }
        : { kind: 'remove runner', id: runner.id };
    case 'unknown': {
      const { forMs, wasBusy, message } = runner;
      if (forMs >= (wasBusy ? longestJobMs : githubGracePeriodMs))
        return { kind: 'proceed', runnerLeft: `${runnerLeftMessage} ${message}` };
      return {
        kind: 'await runner',
        message:
          `${wasBusy ? 'Its runner had a job when GitHub was last heard.' : ''} Its runner could not be taken off the list at GitHub yet: ${message}`.trim(),
      };
    }
  }
};

const runnerBusyMessage =
  'Its runner has a job at GitHub. The Mac goes back when that has ended; cancel it there if nobody needs it.';
const runnerLeftMessage =
  'Its runner is still on the list at GitHub, which forgets a runner that has been offline for 14 days. Remove it there if it is in the way.';
