import { externalControlPlane, leaderElectionID, macNames, secretNames } from '@tartan/api';
import { isConditionTrue, leases, secrets } from '@tartan/kube';
import { fleetNamespace as namespace } from '../../simulation/control-plane.ts';
import { coreKinds } from '../../simulation/fleets.ts';
import type { ManagerProcess } from '../../simulation/manager-deployment.ts';
import { currentVersion } from '../agent-release.ts';
import { CannotPlay, type Fault, type FaultContext } from '../fault.ts';
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
import { untilAll, untilOne, untilTrue, waitFor } from '../wait.ts';

export const capiWithoutKubeconfig: Fault = {
  name: 'capi-without-kubeconfig',
  title:
    'Cluster API has no kubeconfig of the cluster it works in: no Machine was bound to its Node, and each deploy timed out (tuist/tuist#10981).',
  watch: ['kubectl get secrets,clusters,machines -w', 'kubectl get ecp -o yaml'],
  play: async (context) => {
    const { client } = context.simulation.controlPlane;
    const [owner] = (await client.list(externalControlPlane.resource, { namespace })).items;
    if (owner === undefined) throw new CannotPlay('There is no ExternalControlPlane: the fleets are not set up yet.');
    const name = secretNames.kubeconfig(owner.metadata.name);
    const before = await untilOne(
      context,
      secrets,
      `there is a Secret ${name}`,
      ({ metadata }) => metadata.name === name,
    );
    await client.delete(secrets, { namespace, name });
    context.report(`The Secret ${name} is deleted.`);
    await untilOne(
      context,
      secrets,
      `the Secret ${name} is there again`,
      ({ metadata }) => metadata.name === name && metadata.uid !== before.metadata.uid,
    );
    context.report(`The provider has made the Secret ${name} again, with a token of its own.`);
    await untilOne(
      context,
      coreKinds.clusters,
      'Cluster API reaches the cluster',
      ({ metadata, status }) =>
        metadata.name === owner.metadata.name && isConditionTrue(status?.conditions, 'RemoteConnectionProbe'),
    );
    await untilAll(context, coreKinds.machines, 'all Machines are bound to their Nodes', (machines) =>
      machines.every(({ status }) => status?.nodeRef !== undefined),
    );
    return 'Cluster API has its kubeconfig again, and every Machine is bound to its Node. Nobody has to store or rotate it.';
  },
};

const scalewayOutageMs = 2_000;

export const scalewayOutage: Fault = {
  name: 'scaleway-outage',
  title:
    'The API of Scaleway answers nothing but 503, while a machine is asked for: it was taken for "no Mac is free".',
  watch: ['tartan fleet -w', 'kubectl get samm -w'],
  play: async (context) => {
    const { report, simulation } = context;
    await pickFreeHost(context);
    const { calls } = simulation.macs.scaleway.faults;
    const before = (await readyMachines(context)).map(({ name }) => name);
    const outage = { match: /./, times: Infinity, with: { status: 503 } };
    let extra: TemporaryMachine | undefined;
    try {
      calls.push(outage);
      report('From now on, Scaleway answers 503 to everything.');
      extra = await createTemporaryMachine(context);
      await waitFor(scalewayOutageMs, context);
      const why = failingCondition(
        await extra.until('waits', (each) => failingCondition(each, 'Provisioned') !== undefined),
        'Provisioned',
      );
      report(`${extra.name} waits: ${why ?? ''}`);
      if (why?.startsWith('NoAvailableHost')) throw new Error('an outage was taken for a pool that is empty');
      const all = await listNodes(context);
      const down = before.filter((name) => !all.some((node) => node.metadata.name === name && isReadyNode(node)));
      if (down.length > 0) throw new Error(`Nodes are not Ready for the sake of Scaleway: ${down.join(', ')}`);
      report(`All ${before.length} Nodes are Ready, and Pods run on: nobody needs Scaleway for that.`);
      calls.splice(calls.indexOf(outage), 1);
      report('Scaleway answers again.');
      await extra.untilReady();
    } finally {
      if (calls.includes(outage)) calls.splice(calls.indexOf(outage), 1);
      await extra?.remove();
    }
    return 'The machine that was asked for got its Mac by itself once Scaleway answered, and goes again. Nobody has to do anything.';
  },
};

const apiServerOutageMs = 3_000;

/** Processes of virtual machines, as the Mac shows them. */
const listGuestPids = "ps -A -ww -o pid=,command= | grep '[t]art run' | awk '{ print $1 }'";

export const apiServerOutage: Fault = {
  name: 'api-server-outage',
  title:
    'The API server answers nobody for a while: virtual machines must run on, and nobody may act on what it remembers.',
  watch: ['kubectl get nodes', 'tartan fleet'],
  play: async (context) => {
    const { report, simulation } = context;
    const { pause, client } = simulation.controlPlane;
    if (pause === undefined) throw new CannotPlay('This Kubernetes is not ours to stop: only the embedded one can be.');
    const { name, mac } = await pickMachineWithFreeSlot(context);
    const members = await readyMachines(context);
    const pod = await createTemporaryPod(context, name);
    try {
      const { metadata } = await pod.untilRunning();
      const before = [(await mac.run(listGuestPids)).stdout, mac.job(macNames.agentJob)?.pid].join();
      const goOn = await pause();
      try {
        report(`The API server is away, for ${apiServerOutageMs / 1000} s.`);
        await waitFor(apiServerOutageMs, context);
      } finally {
        await goOn();
        report('The API server answers again.');
      }
      const since = Date.now();
      if ([(await mac.run(listGuestPids)).stdout, mac.job(macNames.agentJob)?.pid].join() !== before)
        throw new Error(`the virtual machine or the agent on ${name} is another one than before`);
      report(`The virtual machine of ${pod.name} and the agent of ${name} have run on, as the same processes.`);
      await untilTrue(context, 'every Mac has renewed its Lease', async () => {
        const { items } = await client.list(leases, { namespace: 'kube-node-lease' });
        const renewed = items.filter(({ spec }) => Date.parse(spec?.renewTime ?? '') >= since);
        return members.every((member) => renewed.some((lease) => lease.metadata.name === member.name));
      });
      const after = await pod.until('runs', ({ status }) => status?.phase === 'Running');
      if (after.metadata.uid !== metadata.uid) throw new Error(`${pod.name} is another Pod than before`);
    } finally {
      await pod.remove();
    }
    return 'Every Mac has renewed its Lease since, and the Pod runs on as if nothing had happened. Nobody has to do anything.';
  },
};

/** Seconds instead of a quarter of a minute. */
const shortLeaseFlags = [
  '--leader-elect-lease-duration=4s',
  '--leader-elect-renew-deadline=3s',
  '--leader-elect-retry-period=400ms',
];

interface Frozen {
  readonly process: ManagerProcess;
  /** By which it held the Lease. One that starts anew has another one. */
  readonly identity: string;
}

/**
 * On no process is written who it is. So each is frozen in turn: if the Lease is renewed in spite of it, and not only once, which may have
 * been under way, it was not the leader. Answers the one that was, when another one leads.
 */
const freezeLeader = async (context: FaultContext, all: readonly ManagerProcess[]): Promise<Frozen> => {
  for (const each of all) {
    const before = await untilLeaseRenewed(context, 1);
    each.kill('SIGSTOP');
    context.report(`The manager ${each.pid} is frozen.`);
    if ((await untilLeaseRenewed(context, 2)) !== before) return { process: each, identity: before };
    each.kill('SIGCONT');
    context.report(`It was the one that stands by, and goes on. The other one leads.`);
  }
  throw new Error('nobody took over from a manager that was frozen');
};

export const leaderFrozen: Fault = {
  name: 'leader-frozen',
  title: 'The manager that leads freezes, another one takes over, and then it thaws and believes to lead still.',
  watch: [`kubectl get lease ${leaderElectionID} -w`, 'kubectl get machosts -w'],
  play: async (context) => {
    const { report, simulation } = context;
    await pickReadyMachine(context);
    const version = await currentVersion(context);
    const members = await readyMachines(context);
    const installs = (): string => members.map(({ server }) => `${server.name} ${server.installs}`).join();
    const before = installs();
    try {
      await simulation.upgrade({ version }, { managers: 2, flags: shortLeaseFlags });
      report('Two managers run now, of which one leads; their Lease lasts 4 s.');
      const frozen = await freezeLeader(context, simulation.managerDeployment.running());
      report(`Another one leads: ${await untilLeaseRenewed(context, 1)}`);
      frozen.process.kill('SIGCONT');
      report(`The manager ${frozen.process.pid} thaws, and finds out that its Lease is over.`);
      if ((await untilLeaseRenewed(context, 5)) === frozen.identity)
        throw new Error('the one that thawed has taken the Lease back');
      if (installs() !== before) throw new Error('a Mac that a machine holds was renamed or wiped meanwhile');
    } finally {
      for (const each of simulation.managerDeployment.running()) each.kill('SIGCONT');
      await simulation.upgrade({ version });
    }
    return 'The one that thawed did nothing: each act on a Mac asks first whether the Lease is still its own. Nobody has to do anything.';
  },
};

/** Until one manager has renewed the Lease of the leader so many times, one after the other. Answers who it is. */
const untilLeaseRenewed = async (context: FaultContext, count: number): Promise<string> => {
  const seen = new Set<string>();
  let by = '';
  await untilOne(context, leases, 'somebody leads', ({ metadata, spec }) => {
    const { holderIdentity: holder, renewTime } = spec ?? {};
    if (metadata.name !== leaderElectionID || !holder) return false;
    if (holder !== by) seen.clear();
    by = holder;
    return seen.add(String(renewTime)).size > count;
  });
  return by;
};
