import type { CleanUpReason, Decision } from '../decision.ts';
import type { PresentHost } from '../observe/host.ts';
import type { RunnerFacts, Snapshot } from '../snapshot.ts';

const cleanUp = (because: CleanUpReason): Extract<Decision, { kind: 'clean up' }> => ({ kind: 'clean up', because });

/**
 * The way out. The runner of a builder first, as a wipe would end its job; then the Mac: what belongs to the machine goes once the disk
 * is being erased, so that no agent is left that would bring its Node back. Every row can be met again after a crash, and none undoes an
 * earlier one.
 *
 *   | the Mac                                  | then                                                                |
 *   |------------------------------------------|---------------------------------------------------------------------|
 *   | none, or gone at Scaleway                | clean up                                                            |
 *   | has no MacHost, which will be made again | wait                                                                |
 *   | abandoned by a person                    | clean up: the Mac stays as it is                                    |
 *   | held by this machine, pool known         | its runner, then the release                                        |
 *   | held by this machine, pool unknown       | its runner, then clean up: the Mac stays as it is                   |
 *   | on its way back, wipe begun              | clean up                                                            |
 *   | on its way back, Scaleway does not wipe  | wait; clean up once it is said to be stuck, an hour after the release |
 *   | somebody else's                          | clean up                                                            |
 *
 * A Mac that is left without a wipe still has its agent. Its machine goes all the same: one locked server must not block a deletion, a
 * remediation or an uninstall for ever. The agent's certificate is not renewed any more, and its Node is deleted here; should the agent
 * register it again, the MacHost controller cordons it, and deletes it when the Mac was wiped.
 */
export const decideDeletion = (snapshot: Snapshot): Decision => {
  const { machine, host } = snapshot;
  if (!machine.hasFinalizer) return { kind: 'ignore' };
  switch (host.kind) {
    case 'none':
      return cleanUp('no host');
    case 'absent':
      return host.server === 'gone' ? cleanUp('host gone') : { kind: 'await wipe', message: host.message };
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
  return host.release.stuck ? cleanUp('not wiped') : { kind: 'await wipe', message: host.message };
};

/** Nothing ends the job of its runner, so nobody waits for it; one that has no job gets none any more. */
const leaveAbandoned = (runner: RunnerFacts): Decision => {
  if (runner.kind === 'there' && !runner.isBusy) return { kind: 'remove runner', id: runner.id };
  const isLeft = runner.kind === 'there' || runner.kind === 'unknown';
  const runnerLeft = 'Its runner may still be on the list at GitHub: remove it there.';
  return { ...cleanUp('abandoned'), ...(isLeft && { runnerLeft }) };
};

/** How long a GitHub that does not answer holds a Mac back, which costs money meanwhile. */
const githubGracePeriodMs = 10 * 60_000;
/** The same for a runner that had a job: the longest that a job takes unless its workflow says otherwise. */
const longestJobMs = 6 * 3_600_000;

type RunnerDecision = Extract<Decision, { kind: 'await runner' | 'remove runner' }>;

/**
 * The runner of a builder whose Mac goes back.
 *
 *   | GitHub says                               | then                                                             |
 *   |-------------------------------------------|------------------------------------------------------------------|
 *   | nothing, as it is not asked               | the Mac goes back                                                |
 *   | there is none                             | the Mac goes back                                                |
 *   | it is idle                                | it is taken off the list, and gets no job any more               |
 *   | it has a job                              | its job ends first: a wipe would end it                          |
 *   | nothing for a while                       | wait                                                             |
 *   | nothing for long                          | the Mac goes back; GitHub forgets a runner that is offline       |
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
