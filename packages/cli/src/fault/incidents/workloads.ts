import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { finalizers, macNames, runnerPool, type RunnerPool } from '@tartan/api';
import { getCondition, type Live } from '@tartan/kube';
import type { Mac } from '@tartan/sim-mac';
import { fleetNamespace as namespace } from '../../simulation/control-plane.ts';
import { queueJob } from '../../simulation/github.ts';
import { poolName } from '../../simulation/runners.ts';
import { CannotPlay, type Fault, type FaultContext } from '../fault.ts';
import { pickMachineWithFreeSlot, pickReadyMachine } from '../targets.ts';
import { createTemporaryPod } from '../temporary-objects.ts';
import { untilTrue } from '../wait.ts';

const bakedFromImage = 'ghcr.io/example/macos-tahoe-base:26.1';
const bakedVM = 'tuist-runner';
const tartHome = '/Users/m1/.tart';

/** Of the Mac: the disk took longer than the interval of the collector. */
const pushSeconds = 400;

/** As a person who is logged in there. */
const runTart = async (mac: Mac, words: string): Promise<void> => {
  const { code, stderr } = await mac.run(`"$TARTAN_ROOT/usr/local/bin/tart" ${words}`);
  if (code !== 0) throw new Error(`tart ${words} has failed: ${stderr.trim()}`);
};

/** How often anybody has asked which virtual machines there are. */
const tartListCalls = async (mac: Mac): Promise<number> =>
  (await readFile(mac.path(`${tartHome}/.fake/journal`), 'utf8')).split('\u001Flist').length;

const writeTextFile = async (file: string, text: string): Promise<void> => {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
};

export const bakeBesideAgent: Fault = {
  name: 'bake-beside-agent',
  title:
    'An image is baked on a Mac beside the agent: its collector took the virtual machine away in the middle of tart push (tuist/tuist#11072).',
  watch: ['kubectl get nodes', 'tartan fleet -w'],
  play: async (context) => {
    const { report } = context;
    const { name, mac } = await pickReadyMachine(context);
    try {
      await writeTextFile(mac.path(`${tartHome}/.fake/host/push-disk`), `${pushSeconds}\n`);
      await runTart(mac, `clone ${bakedFromImage} ${bakedVM}`);
      const pushing = runTart(mac, `push ${bakedVM} ghcr.io/example/runner:1`);
      pushing.catch(() => {});
      report(
        `On the Mac of ${name} somebody has baked ${bakedVM}, which no Pod knows, and pushes it: the disk is on its way.`,
      );
      const before = await tartListCalls(mac);
      await mac.run(`launchctl kickstart -k system/${macNames.agentJob}`, { asRoot: true });
      report('The agent is restarted, and so collects at once instead of in five minutes.');
      await untilTrue(
        context,
        'the agent has looked for what to collect',
        async () => (await tartListCalls(mac)) > before,
      );
      await pushing;
      if (!existsSync(mac.path(`${tartHome}/vms/${bakedVM}`))) throw new Error(`the agent has removed ${bakedVM}`);
    } finally {
      await rm(mac.path(`${tartHome}/.fake`), { recursive: true, force: true });
      await runTart(mac, `delete ${bakedVM}`).catch(() => {});
    }
    return `${bakedVM} was left alone, and its push has arrived whole, NVRAM last: the agent collects what it has made itself, and nothing else. Nobody has to do anything.`;
  },
};

export const stuckPods: Fault = {
  name: 'stuck-pods',
  title:
    'A Pod that has finished is deleted: 504 of them hung in Terminating, since nobody removed their finalizer (tuist/tuist#10875).',
  watch: ['kubectl get pods -w', 'tartan pods unstick'],
  play: async (context) => {
    const { report } = context;
    const { name, mac } = await pickMachineWithFreeSlot(context);
    const pod = await createTemporaryPod(context, name);
    try {
      await pod.untilRunning();
      const vms = await readdir(mac.path(`${tartHome}/vms`));
      await runTart(mac, `exec ${vms.find((vm) => vm.includes(pod.name))} shutdown -h now`);
      report(`The job in ${pod.name} is done, and its guest shuts down.`);
      const ended = await pod.until('has finished', ({ status }) => status?.phase === 'Succeeded');
      const held = (ended.metadata.finalizers ?? []).includes(finalizers.vmCleanup);
      report(
        `${pod.name} has Succeeded${held ? `, and bears the finalizer ${finalizers.vmCleanup}` : ''}. Now it is deleted.`,
      );
    } finally {
      await pod.remove();
    }
    return `${pod.name} is gone, and so is its virtual machine: deletion is looked at before the phase. Pods that hang for another reason are shown, and let go, by tartan pods unstick.`;
  },
};

const readRunnerPool = ({ simulation }: FaultContext): Promise<Live<RunnerPool>> =>
  simulation.controlPlane.client.get(runnerPool.resource, { namespace, name: poolName });

const isSaturated = ({ status }: RunnerPool): boolean =>
  getCondition(status?.conditions, 'JobsWaiting')?.status === 'True';

export const queueJobs: Fault = {
  name: 'queue-jobs',
  title: 'More jobs come at once than there are runners: the rest must wait, be seen to wait, and none may be lost.',
  watch: [`tartan runners ${poolName} -w`, 'kubectl get pods -w'],
  play: async (context) => {
    const { report, simulation } = context;
    const { runners } = simulation;
    if (runners === undefined)
      throw new CannotPlay('There are no runners here: start with more machines (tartan up --machines 4).');
    const { github } = runners;
    const wanted = (await readRunnerPool(context)).spec.replicas;
    if (wanted === 0) throw new CannotPlay(`The pool wants no runners: kubectl scale rpool ${poolName} --replicas=2.`);
    const lost = github.lostJobs().length;
    const jobs = Array.from({ length: wanted + 2 }, () => queueJob(github));
    report(`${jobs.length} jobs are queued for ${wanted === 1 ? '1 runner' : `${wanted} runners`}.`);
    let saturated = await readRunnerPool(context);
    await untilTrue(context, 'the pool says that jobs wait', async () => {
      // It asks GitHub twice a minute, and jobs of a simulation take seconds: some wait until it has seen them.
      if (!jobs.some(({ status }) => status === 'queued')) jobs.push(queueJob(github), queueJob(github));
      saturated = await readRunnerPool(context);
      return isSaturated(saturated);
    });
    const waiting = getCondition(saturated.status?.conditions, 'JobsWaiting');
    report(`The pool says ${waiting?.reason ?? ''}: ${waiting?.message ?? ''}`);
    await untilTrue(context, 'all jobs have ended', () => jobs.every(({ status }) => status === 'completed'));
    const failed = jobs.filter(({ conclusion }) => conclusion !== 'success');
    if (failed.length > 0 || github.lostJobs().length > lost)
      throw new Error(`${failed.map(({ name }) => name).join(', ')} did not end with success`);
    return `All ${jobs.length} jobs have ended with success, each in a virtual machine of its own. Nobody has to do anything; more replicas on more Macs would have been faster.`;
  },
};
