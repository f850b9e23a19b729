import type { Decision, Farewell } from './decision.ts';
import { decideRunner } from './decide-runner.ts';
import type { MachineFacts, PresentHost, RunnerFacts, Snapshot } from './snapshot.ts';

const cleanUp = (because: Farewell): Extract<Decision, { kind: 'clean up' }> => ({ kind: 'clean up', because });

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
export const decideDeletion = ({ host, runner }: Snapshot, machine: MachineFacts): Decision => {
  if (!machine.held) return { kind: 'leave' };
  switch (host.kind) {
    case 'none':
      return cleanUp('no host');
    case 'absent':
      return host.server === 'gone' ? cleanUp('host gone') : { kind: 'await wipe', message: host.message };
    case 'present':
      return leaveHost(host, machine, runner);
  }
};

const leaveHost = (host: PresentHost, machine: MachineFacts, runner: RunnerFacts): Decision => {
  if (host.gone) return cleanUp('host gone');
  if (host.abandoned) return abandon(runner);
  if (host.holder === 'me') {
    const goodbye = decideRunner(runner);
    if (goodbye.kind !== 'go on') return goodbye;
    const left = goodbye.runnerLeft === undefined ? {} : { runnerLeft: goodbye.runnerLeft };
    const poolPrefix = host.poolPrefix ?? machine.poolPrefix;
    return poolPrefix === undefined ? { ...cleanUp('skipped'), ...left } : { kind: 'release', poolPrefix, ...left };
  }
  if (host.release === undefined || host.release.begun) return cleanUp('released');
  return host.release.stuck ? cleanUp('not wiped') : { kind: 'await wipe', message: host.message };
};

/** Nothing ends the job of its runner, so nobody waits for it; one that has no job gets none any more. */
const abandon = (runner: RunnerFacts): Decision => {
  if (runner.kind === 'there' && !runner.isBusy) return { kind: 'remove runner', id: runner.id };
  const isLeft = runner.kind === 'there' || runner.kind === 'unknown';
  const runnerLeft = 'Its runner may still be on the list at GitHub: remove it there.';
  return { ...cleanUp('abandoned'), ...(isLeft && { runnerLeft }) };
};
