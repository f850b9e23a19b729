import type { Decision, Farewell } from './decision.ts';
import { decideRunner } from './decide-runner.ts';
import type { MachineFacts, PresentHost, RunnerFacts, Snapshot } from './snapshot.ts';

const cleanUp = (because: Farewell): Decision => ({ kind: 'clean up', because });

/**
 * The way out. The runner of a builder first, as a wipe would end its job; then the Mac: what belongs to the machine goes once the disk
 * is being erased, so that no agent is left that would bring its Node back. Every row can be met again after a crash, and none undoes an
 * earlier one.
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
  if (host.holder === 'me') {
    const goodbye = decideRunner(runner);
    if (goodbye.kind !== 'go on') return goodbye;
    const left = goodbye.runnerLeft === undefined ? {} : { runnerLeft: goodbye.runnerLeft };
    const poolPrefix = host.poolPrefix ?? machine.poolPrefix;
    return poolPrefix === undefined ? { ...cleanUp('skipped'), ...left } : { kind: 'release', poolPrefix, ...left };
  }
  if (host.release !== undefined && !host.release.begun) return { kind: 'await wipe', message: host.message };
  return cleanUp('released');
};
