import { existsSync, readFileSync } from 'node:fs';
import { readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { macFleet, macNames } from '@tartan/api';
import { getCondition, isConditionTrue } from '@tartan/kube';
import { type Mac, standInSoftware } from '@tartan/sim-mac';
import { currentVersion, nextPatch, roll, untilRolled } from '../agent-release.ts';
import { type Fault, type FaultContext, PrerequisiteError } from '../fault.ts';
import { pickReadyMachine, readyMachines } from '../targets.ts';
import { untilAll, untilNamed, untilTrue } from '../wait.ts';

/** Peak memory of the managers, as Linux reports it. */
const peakMemory = ({ simulation }: FaultContext): string => {
  try {
    const peaks = simulation.managerDeployment
      .running()
      .map(({ pid }) => Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]));
    return ` and used at most ${Math.round(Math.max(...peaks) / 1024)} MB`;
  } catch {
    return '';
  }
};

/** Resolves after the rollout, with the largest number of turns that a fleet had at once. */
const countTurns = async (context: FaultContext, rolled: Promise<void>): Promise<number> => {
  let maxTurns = 0;
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  const watching = untilAll({ ...context, signal }, macFleet.resource, '', (fleets) => {
    maxTurns = Math.max(maxTurns, ...fleets.map(({ status }) => (status?.turns ?? []).length));
    return false;
  }).catch(() => {});
  await rolled.finally(() => over.abort());
  await watching;
  return maxTurns;
};

export const fleetWideRoll: Fault = {
  name: 'fleet-wide-roll',
  title:
    'A new agent is due on every Mac at once: four copies were in memory, and the manager ran out of it (tuist/tuist#11065).',
  watch: ['tartan roll status -w', 'kubectl get macfleets -w'],
  run: async (context) => {
    await pickReadyMachine(context);
    const version = nextPatch(await currentVersion(context));
    await roll(context, { version });
    const restarts = (): number =>
      context.simulation.managerDeployment.running().reduce((sum, each) => sum + each.restarts, 0);
    const maxTurns = await countTurns(context, untilRolled(context, version));
    const count = (await readyMachines(context)).length;
    const peak = peakMemory(context);
    if (restarts() > 0) throw new Error(`the manager was restarted ${restarts()} times during the rollout`);
    return `All ${count} machines run agent ${version}; at most ${maxTurns} of a fleet had a turn at once. The manager was not restarted${peak}. Nothing to do.`;
  },
};

/** By default the manager tries five times, a minute apart. */
const singleAttemptFlags = ['--tartkubelet-max-update-attempts=1'];

export const noOpKickstart: Fault = {
  name: 'no-op-kickstart',
  title:
    'launchctl kickstart exits with 0 but leaves the old agent running: the rollout counted as done, and the Node was stranded (tuist/tuist#10981).',
  watch: ['tartan roll status -w', 'kubectl get macfleets -w', 'kubectl get nodes -w'],
  run: async (context) => {
    const { report } = context;
    const { name, mac, machine } = await pickReadyMachine(context);
    const fleet = machine.spec.fleetName ?? '';
    const bad = nextPatch(await currentVersion(context));
    const good = nextPatch(bad);
    const before = mac.job(macNames.agentJob)?.pid;
    report(`From now on, launchctl kickstart -k does nothing on the Mac of ${name}, and exits with 0.`);
    try {
      mac.faults.kickstart = 'no-op';
      await roll(context, { version: bad }, singleAttemptFlags);
      const stopped = await untilNamed(context, macFleet.resource, fleet, 'stops its rollout', ({ status }) =>
        isConditionTrue(status?.conditions, 'Stalled'),
      );
      report(
        `The rollout of ${fleet} has stopped: ${getCondition(stopped.status?.conditions, 'Stalled')?.message ?? ''}`,
      );
      if (mac.job(macNames.agentJob)?.pid !== before) throw new Error('the running agent was replaced');
      report(`The old agent on ${name} still runs, with its own release. The Mac has no stamp of the new one.`);
    } finally {
      mac.faults.kickstart = 'normal';
      report(`launchctl works again on the Mac of ${name}.`);
      await roll(context, { version: good });
    }
    await untilRolled(context, good);
    return `The rollout stopped, since Tartan checks the process and not the exit code of launchctl. The next release (${good}) is on every Mac. An operator reads the message of the fleet, checks that Mac, and rolls out the next release.`;
  },
};

const restartAgent = `launchctl kickstart -k system/${macNames.agentJob}`;

const codesignKills = ({ journal }: Mac): number =>
  journal.entries.filter(({ what, detail }) => what === 'launchd.exit' && detail.includes('OS_REASON_CODESIGNING'))
    .length;

/** The real path of the program that launchd starts for the agent. */
const programOf = async (mac: Mac): Promise<string> => {
  const [program] = mac.job(macNames.agentJob)?.arguments ?? [];
  if (program === undefined) throw new PrerequisiteError('launchd has no agent on that Mac.');
  return realpath(mac.path(program));
};

export const codesignKill: Fault = {
  name: 'codesign-kill',
  title:
    'A program is overwritten in place while macOS caches its old signature: the kernel killed the new agent on two of three Macs (tuist/tuist#10981).',
  watch: ['tartan roll status -w', 'kubectl get nodes -w'],
  run: async (context) => {
    const { report, simulation } = context;
    const { name, mac } = await pickReadyMachine(context);
    const program = await programOf(mac);
    const before = await readFile(program);
    const { node } = await standInSoftware(join(simulation.folder, 'next-runtime'), { variant: 'b' });
    const runtime = await readFile(node.file, 'utf8');
    const version = nextPatch(await currentVersion(context));
    const killed = codesignKills(mac);
    try {
      // Into the same inode, as scp does.
      await writeFile(program, runtime);
      await mac.run(restartAgent, { asRoot: true });
      report(`On the Mac of ${name} the program of the agent is overwritten in place and restarted.`);
      await untilTrue(context, 'macOS killed the agent', () => codesignKills(mac) > killed);
      report('macOS kills the agent at each start: OS_REASON_CODESIGNING.');
      const others = await readyMachines(context);
      const sofar = new Map(others.map((each) => [each.name, codesignKills(each.mac)]));
      await roll(context, { version, runtime });
      await untilRolled(context, version);
      const hit = others.filter((each) => each.name !== name && codesignKills(each.mac) !== sofar.get(each.name));
      if (hit.length > 0) throw new Error(`macOS killed the agent on ${hit.map((each) => each.name).join(', ')}`);
    } finally {
      // The content whose signature macOS caches.
      if (existsSync(program)) await writeFile(program, before);
      if (context.signal.aborted) await mac.run(restartAgent, { asRoot: true });
    }
    return `The rollout wrote the new program to a new file and signed it: agent ${version} runs on every Mac, also on ${name}. Nothing to do.`;
  },
};
