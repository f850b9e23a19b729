import { externalControlPlane, leaderElectionID, macNames, secretNames } from '@tartan/api';
import { isConditionTrue, leases, secrets } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { coreKinds, fleetNamespace as namespace, type ManagerProcess } from '@tartan/sim-fleet';
import { currentVersion } from '../agent-release.ts';
import { type Fault, type FaultContext, PrerequisiteError } from '../fault.ts';
import {
  isReadyNode,
  listNodes,
  pickFreeHost,
  pickMachineWithFreeSlot,
  pickReadyMachine,
  readyMachines,
} from '../targets.ts';
import {
  createTemporaryMachine,
  createTemporaryPod,
  failingCondition,
  type TemporaryMachine,
} from '../temporary-objects.ts';
import { untilAll, untilNamed, untilOne, untilTrue, waitFor } from '../wait.ts';

export const capiWithoutKubeconfig: Fault = {
  name: 'capi-without-kubeconfig',
  title:
    'Cluster API has no kubeconfig of its workload cluster: no Machine was bound to its Node, and each deploy timed out (tuist/tuist#10981).',
  watch: ['kubectl get secrets,clusters,machines -w', 'kubectl get ecp -o yaml'],
  run: async (context) => {
    const { client } = context.simulation.controlPlane;
    const [owner] = (await client.list(externalControlPlane.resource, { namespace })).items;
    if (owner === undefined)
      throw new PrerequisiteError('There is no ExternalControlPlane: the fleets are not installed yet.');
    const name = secretNames.kubeconfig(owner.metadata.name);
    const before = await untilNamed(context, secrets, name, 'exists', () => true);
    await client.delete(secrets, { namespace, name });
    context.report(`The Secret ${name} is deleted.`);
    await untilNamed(context, secrets, name, 'exists again', ({ metadata }) => metadata.uid !== before.metadata.uid);
    context.report(`The provider has created the Secret ${name} again, with a new token.`);
    await untilNamed(context, coreKinds.clusters, owner.metadata.name, 'is reachable for Cluster API', ({ status }) =>
      isConditionTrue(status?.conditions, 'RemoteConnectionProbe'),
    );
    await untilAll(context, coreKinds.machines, 'all Machines were bound to their Nodes', (machines) =>
      machines.every(({ status }) => status?.nodeRef !== undefined),
    );
    return 'Cluster API has its kubeconfig again, and every Machine is bound to its Node. The provider creates and rotates it: nothing to do.';
  },
};

const scalewayOutageMs = 2_000;

export const scalewayOutage: Fault = {
  name: 'scaleway-outage',
  title:
    'The API of Scaleway answers every request with 503 while a machine is created: this was reported as "no Mac is free".',
  watch: ['tartan fleet -w', 'kubectl get samm -w'],
  run: async (context) => {
    const { report, simulation } = context;
    await pickFreeHost(context);
    const { calls } = simulation.macs.scaleway.faults;
    const before = (await readyMachines(context)).map(({ name }) => name);
    const outage = { match: /./, times: Infinity, with: { status: 503 } };
    let extra: TemporaryMachine | undefined;
    try {
      calls.push(outage);
      report('From now on, Scaleway answers every request with 503.');
      extra = await createTemporaryMachine(context);
      await waitFor(scalewayOutageMs, context);
      const why = failingCondition(
        await extra.until('waits', (each) => failingCondition(each, 'Provisioned') !== undefined),
        'Provisioned',
      );
      report(`${extra.name} waits: ${why ?? ''}`);
      if (why?.startsWith('NoAvailableHost')) throw new Error('the outage was reported as an empty pool');
      const all = await listNodes(context);
      const down = before.filter((name) => !all.some((node) => node.metadata.name === name && isReadyNode(node)));
      if (down.length > 0) throw new Error(`Nodes became not Ready during the outage: ${down.join(', ')}`);
      report(`All ${before.length} Nodes are Ready, and their Pods keep running: they do not need Scaleway.`);
      calls.splice(calls.indexOf(outage), 1);
      report('Scaleway answers again.');
      await extra.untilReady();
    } finally {
      if (calls.includes(outage)) calls.splice(calls.indexOf(outage), 1);
      await extra?.remove();
    }
    return 'The new machine got its Mac as soon as Scaleway answered again, and is deleted. Nothing to do.';
  },
};

const apiServerOutageMs = 3_000;

const listGuestPids = "ps -A -ww -o pid=,command= | grep '[t]art run' | awk '{ print $1 }'";

export const apiServerOutage: Fault = {
  name: 'api-server-outage',
  title:
    'The API server is unreachable for a while: virtual machines must keep running, and no controller may act on outdated data.',
  watch: ['kubectl get nodes', 'tartan fleet'],
  run: async (context) => {
    const { report, simulation } = context;
    const { pause, client } = simulation.controlPlane;
    if (pause === undefined) throw new PrerequisiteError('Only the embedded Kubernetes can be paused.');
    const { name, mac } = await pickMachineWithFreeSlot(context);
    const members = await readyMachines(context);
    const pod = await createTemporaryPod(context, name);
    try {
      const { metadata } = await pod.untilRunning();
      const before = [(await mac.run(listGuestPids)).stdout, mac.job(macNames.agentJob)?.pid].join();
      const resume = await pause();
      try {
        report(`The API server is unreachable for ${apiServerOutageMs / 1000} s.`);
        await waitFor(apiServerOutageMs, context);
      } finally {
        await resume();
        report('The API server answers again.');
      }
      const since = systemClock.now();
      if ([(await mac.run(listGuestPids)).stdout, mac.job(macNames.agentJob)?.pid].join() !== before)
        throw new Error(`the virtual machine or the agent on ${name} was restarted`);
      report(`The virtual machine of ${pod.name} and the agent of ${name} kept running, as the same processes.`);
      await untilTrue(context, 'every Mac had renewed its Lease', async () => {
        const { items } = await client.list(leases, { namespace: 'kube-node-lease' });
        const renewed = items.filter(({ spec }) => Date.parse(spec?.renewTime ?? '') >= since);
        return members.every((member) => renewed.some((lease) => lease.metadata.name === member.name));
      });
      const after = await pod.until('runs', ({ status }) => status?.phase === 'Running');
      if (after.metadata.uid !== metadata.uid) throw new Error(`the Pod ${pod.name} was replaced`);
    } finally {
      await pod.remove();
    }
    return 'Every Mac has renewed its Lease, and the Pod still runs. Nothing to do.';
  },
};

/** By default a Lease lasts 15 s. */
const shortLeaseFlags = [
  '--leader-elect-lease-duration=4s',
  '--leader-elect-renew-deadline=3s',
  '--leader-elect-retry-period=400ms',
];

/**
 * Finds the leader by freezing one manager after the other. If the Lease is renewed twice meanwhile, the frozen one was not the leader:
 * one renewal may have been under way. Returns the old leader, and the identity by which it held the Lease.
 */
const freezeLeader = async (
  context: FaultContext,
  all: readonly ManagerProcess[],
): Promise<{ process: ManagerProcess; identity: string }> => {
  for (const each of all) {
    const before = await untilLeaseRenewed(context, 1);
    each.kill('SIGSTOP');
    context.report(`The manager ${each.pid} is frozen.`);
    if ((await untilLeaseRenewed(context, 2)) !== before) return { process: each, identity: before };
    each.kill('SIGCONT');
    context.report('It was on standby, and continues. The other manager leads.');
  }
  throw new Error('no manager took over from a frozen one');
};

export const leaderFrozen: Fault = {
  name: 'leader-frozen',
  title: 'The leading manager freezes, another one takes over, and then the first continues as if it still led.',
  watch: [`kubectl get lease ${leaderElectionID} -w`, 'kubectl get machosts -w'],
  run: async (context) => {
    const { report, simulation } = context;
    await pickReadyMachine(context);
    const version = await currentVersion(context);
    const members = await readyMachines(context);
    const installs = (): string => members.map(({ server }) => `${server.name} ${server.installs}`).join();
    const before = installs();
    try {
      await simulation.upgrade({ version }, { managers: 2, flags: shortLeaseFlags });
      report('Two managers run now, and one leads; their Lease lasts 4 s.');
      const frozen = await freezeLeader(context, simulation.managerDeployment.running());
      report(`Another manager leads: ${await untilLeaseRenewed(context, 1)}`);
      frozen.process.kill('SIGCONT');
      report(`The manager ${frozen.process.pid} continues, and sees that its Lease has expired.`);
      if ((await untilLeaseRenewed(context, 5)) === frozen.identity)
        throw new Error('the old leader has taken the Lease back');
      if (installs() !== before) throw new Error('a held Mac was renamed or wiped');
    } finally {
      for (const each of simulation.managerDeployment.running()) each.kill('SIGCONT');
      await simulation.upgrade({ version });
    }
    return 'The old leader changed nothing: a manager checks its Lease before each action on a Mac. Nothing to do.';
  },
};

/** Waits until one manager has renewed the Lease so many times in a row. Returns its identity. */
const untilLeaseRenewed = async (context: FaultContext, count: number): Promise<string> => {
  const seen = new Set<string>();
  let by = '';
  await untilOne(context, leases, 'a manager led', ({ metadata, spec }) => {
    const { holderIdentity: holder, renewTime } = spec ?? {};
    if (metadata.name !== leaderElectionID || !holder) return false;
    if (holder !== by) seen.clear();
    by = holder;
    return seen.add(String(renewTime)).size > count;
  });
  return by;
};
