import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { finalizers, macNames, runnerPool, type RunnerPool } from '@tartan/api';
import { getCondition, type Live } from '@tartan/kube';
import { fleetNamespace as namespace, poolName, queueJob } from '@tartan/sim-fleet';
import type { Mac } from '@tartan/sim-mac';
import { counted } from '../../output/terminal-text.ts';
import { type Fault, type FaultContext, PrerequisiteError } from '../fault.ts';
import { pickMachineWithFreeSlot, pickReadyMachine } from '../targets.ts';
import { createTemporaryPod } from '../temporary-objects.ts';
import { untilTrue } from '../wait.ts';

const bakedFromImage = 'ghcr.io/example/macos-tahoe-base:26.1';
const bakedVM = 'tuist-runner';
const tartHome = '/Users/m1/.tart';

/** In seconds of the Mac: pushing the disk took longer than the interval of the garbage collection. */
const pushSeconds = 400;

/** As a user who is logged in on the Mac. */
const runTart = async (mac: Mac, words: string): Promise<void> => {
  const { code, stderr } = await mac.run(`"$TARTAN_ROOT/usr/local/bin/tart" ${words}`);
  if (code !== 0) throw new Error(`tart ${words} failed: ${stderr.trim()}`);
};

const tartListCalls = async (mac: Mac): Promise<number> =>
  (await readFile(mac.path(`${tartHome}/.fake/journal`), 'utf8')).split('\u001Flist').length;

const writeTextFile = async (file: string, text: string): Promise<void> => {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
};

export const bakeBesideAgent: Fault = {
  name: 'bake-beside-agent',
  title:
    'An image is baked on a Mac beside the agent: its garbage collection deleted the virtual machine during tart push (tuist/tuist#11072).',
  watch: ['kubectl get nodes', 'tartan fleet -w'],
  run: async (context) => {
    const { report } = context;
    const { name, mac } = await pickReadyMachine(context);
    const pushDuration = mac.path(`${tartHome}/.fake/host/push-disk`);
    try {
      await writeTextFile(pushDuration, `${pushSeconds}\n`);
      await runTart(mac, `clone ${bakedFromImage} ${bakedVM}`);
      const pushing = runTart(mac, `push ${bakedVM} ghcr.io/example/runner:1`);
      pushing.catch(() => {});
      report(`On the Mac of ${name} a person has baked ${bakedVM}, which belongs to no Pod, and pushes it.`);
      const before = await tartListCalls(mac);
      await mac.run(`launchctl kickstart -k system/${macNames.agentJob}`, { asRoot: true });
      report('The agent is restarted, so that its garbage collection runs at once instead of in five minutes.');
      await untilTrue(context, 'the garbage collection had run', async () => (await tartListCalls(mac)) > before);
      await pushing;
      if (!existsSync(mac.path(`${tartHome}/vms/${bakedVM}`))) throw new Error(`the agent deleted ${bakedVM}`);
    } finally {
      await rm(pushDuration, { force: true });
      await runTart(mac, `delete ${bakedVM}`).catch(() => {});
    }
    return `${bakedVM} still exists, and its push is complete: the agent deletes only what it has created. Nothing to do.`;
  },
};

export const stuckPods: Fault = {
  name: 'stuck-pods',
  title:
    'A finished Pod is deleted: 504 Pods stayed in Terminating, since no agent removed their finalizer (tuist/tuist#10875).',
  watch: ['kubectl get pods -w', 'tartan pods unstick'],
  run: async (context) => {
    const { report } = context;
    const { name, mac } = await pickMachineWithFreeSlot(context);
    const pod = await createTemporaryPod(context, name);
    try {
      await pod.untilRunning();
      const vms = await readdir(mac.path(`${tartHome}/vms`));
      const shutDown = `exec ${vms.find((vm) => vm.includes(pod.name))} shutdown -h now`;
      // A Pod runs from the start of its virtual machine, and the guest agent answers only after the boot.
      await untilTrue(context, `the guest agent of ${pod.name} answered`, () =>
        runTart(mac, shutDown).then(
          () => true,
          () => false,
        ),
      );
      report(`The job in ${pod.name} is done, and the guest shuts down.`);
      const ended = await pod.until('has finished', ({ status }) => status?.phase === 'Succeeded');
      const held = (ended.metadata.finalizers ?? []).includes(finalizers.vmCleanup);
      report(
        `${pod.name} has Succeeded${held ? `, and has the finalizer ${finalizers.vmCleanup}` : ''}. Now it is deleted.`,
      );
    } finally {
      await pod.remove();
    }
    return `${pod.name} and its virtual machine are gone: the agent checks for deletion before the phase. tartan pods unstick lists and releases Pods that are stuck for another reason.`;
  },
};

const readRunnerPool = ({ simulation }: FaultContext): Promise<Live<RunnerPool>> =>
  simulation.controlPlane.client.get(runnerPool.resource, { namespace, name: poolName });

const isSaturated = ({ status }: RunnerPool): boolean =>
  getCondition(status?.conditions, 'JobsWaiting')?.status === 'True';

export const queueJobs: Fault = {
  name: 'queue-jobs',
  title:
    'More jobs are queued than there are runners: the others must wait, the pool must report them, and none may be lost.',
  watch: [`tartan runners ${poolName} -w`, 'kubectl get pods -w'],
  run: async (context) => {
    const { report, simulation } = context;
    const { runners } = simulation;
    if (runners === undefined)
      throw new PrerequisiteError('There are no runners: start more machines (tartan up --machines 4).');
    const { github } = runners;
    const wanted = (await readRunnerPool(context)).spec.replicas;
    if (wanted === 0)
      throw new PrerequisiteError(`The pool has no replicas: kubectl scale rpool ${poolName} --replicas=2.`);
    const lost = github.lostJobs().length;
    const jobs = Array.from({ length: wanted + 2 }, () => queueJob(github));
    report(`${jobs.length} jobs are queued for ${counted(wanted, 'runner')}.`);
    let saturated = await readRunnerPool(context);
    await untilTrue(context, 'the pool reported waiting jobs', async () => {
      // The controller reads GitHub twice a minute, and simulated jobs take seconds: keep some waiting until it has seen them.
      if (!jobs.some(({ status }) => status === 'queued')) jobs.push(queueJob(github), queueJob(github));
      saturated = await readRunnerPool(context);
      return isSaturated(saturated);
    });
    const waiting = getCondition(saturated.status?.conditions, 'JobsWaiting');
    report(`The pool reports ${waiting?.reason ?? ''}: ${waiting?.message ?? ''}`);
    await untilTrue(context, 'all jobs had ended', () => jobs.every(({ status }) => status === 'completed'));
    const failed = jobs.filter(({ conclusion }) => conclusion !== 'success');
    if (failed.length > 0 || github.lostJobs().length > lost)
      throw new Error(`${failed.map(({ name }) => name).join(', ')} did not succeed`);
    return `All ${jobs.length} jobs succeeded, each in its own virtual machine. Nothing to do; more replicas on more Macs would be faster.`;
  },
};
