import { randomBytes } from 'node:crypto';
import { machine, macHost } from '@tartan/api';
import { isKubeError } from '@tartan/kube';
import { fleetNamespace as namespace } from '../../simulation/control-plane.ts';
import { claimPrefix, coreKinds } from '../../simulation/fleets.ts';
import type { Fault, FaultContext } from '../fault.ts';
import { pickFreeHost, pickReadyMachine, type SimulatedHost } from '../targets.ts';
import { createTemporaryMachine, failingCondition, type TemporaryMachine } from '../temporary-objects.ts';
import { untilAll, untilGone, untilOne } from '../wait.ts';

export const strandedHosts: Fault = {
  name: 'stranded-hosts',
  title:
    'A machine is deleted past its finalizer: its Mac was billed for 14 days, and nobody looked at it again (tuist/tuist#11056).',
  watch: ['tartan orphans -w', 'tartan pool -w', 'kubectl get machosts -w'],
  play: async (context) => {
    const { report, simulation } = context;
    const { client } = simulation.controlPlane;
    const { name, server } = await pickReadyMachine(context);
    const installs = server.installs;
    const here = { namespace, name };
    const managers = simulation.managerDeployment.running();
    try {
      // Or it would give the Mac back before the finalizer is gone.
      for (const each of managers) each.kill('SIGSTOP');
      await client.delete(machine.resource, here);
      await client.patch(machine.resource, here, { type: 'merge', body: { metadata: { finalizers: null } } });
      await client.delete(coreKinds.machines, here).catch((error: unknown) => {
        if (!isKubeError(error, 'notFound')) throw error;
      });
    } finally {
      for (const each of managers) each.kill('SIGCONT');
    }
    report(`The machine ${name} is deleted by force: nobody gives its Mac ${server.id} back, and it keeps its name.`);
    const isIt = ({ metadata }: { metadata: { name: string } }): boolean => metadata.name === server.id;
    await untilOne(context, macHost.resource, 'it is found', (host) => isIt(host) && host.status?.state === 'stranded');
    report('It is found: no machine knows it, and it is in no pool. scaleway_orphan_servers is 1.');
    await untilOne(
      context,
      macHost.resource,
      'it is sent back',
      (host) => isIt(host) && host.spec.release !== undefined,
    );
    report('The sweep has looked once more, past all caches, and sends it back to the pool.');
    await untilOne(
      context,
      macHost.resource,
      'it is wiped and free',
      (host) => isIt(host) && host.spec.release === undefined && server.installs > installs,
    );
    await untilAll(context, coreKinds.machineDeployments, 'the fleets are complete again', (all) =>
      all.every(({ spec, status }) => status?.availableReplicas === spec?.['replicas']),
    );
    return 'The Mac was wiped and is back in the pool, and the fleet has its machine again. Without --orphan-reclaim-claim-name-prefix it would have been reported only: a person looks at tartan orphans.';
  },
};

export const adoptionDuringSweep: Fault = {
  name: 'adoption-during-sweep',
  title:
    'A machine adopts a Mac while the sweep, which has seen it stranded a moment ago, is about to wipe it (review of tuist/tuist#11056).',
  watch: ['kubectl get machosts -w', 'kubectl get samm -w'],
  play: async (context) => {
    const { report, simulation } = context;
    const host = await pickFreeHost(context);
    const { server } = host;
    const [poolName, name] = [server.name, `${claimPrefix}adopts-${randomBytes(2).toString('hex')}`];
    const managers = simulation.managerDeployment.running();
    const isIt = ({ metadata }: { metadata: { name: string } }): boolean => metadata.name === server.id;
    let extra: Awaited<ReturnType<typeof createTemporaryMachine>> | undefined;
    try {
      server.name = name;
      report(`The Mac ${server.id} is called ${name} now, as if its machine had vanished in the middle of a claim.`);
      await untilOne(
        context,
        macHost.resource,
        'it is found',
        (each) => isIt(each) && each.status?.state === 'stranded',
      );
      report('It is found stranded, and the next sweep may wipe it. Right now the machine of that name comes (again).');
      try {
        // What the manager knows of machines is old when it goes on.
        for (const each of managers) each.kill('SIGSTOP');
        extra = await createTemporaryMachine(context, undefined, name);
      } finally {
        for (const each of managers) each.kill('SIGCONT');
      }
      const claimed = await extra.until('holds a Mac', ({ status }) => status?.serverID !== undefined);
      const mine = simulation.macs.scaleway.servers().find(({ id }) => id === claimed.status?.serverID);
      const installs = mine?.installs;
      const way =
        mine?.id === server.id && installs === server.installs ? 'the machine came first' : 'the sweep came first';
      await extra.untilReady();
      if (mine === undefined || mine.installs !== installs) throw new Error('a Mac was wiped while a machine held it');
      const after = await untilOne(
        context,
        macHost.resource,
        'it is held',
        ({ metadata }) => metadata.name === mine.id,
      );
      if (after.spec.consumerRef?.name !== name)
        throw new Error('the Mac is not held by the machine that is Ready on it');
      report(`${name} is Ready on ${mine.id}, which nobody has wiped since: ${way}.`);
    } finally {
      if (extra === undefined) server.name = poolName;
      else await extra.remove();
    }
    return 'Release and claim are two writes to one object, of which only one succeeds: no Mac that a machine held was wiped. Nobody has to do anything.';
  },
};

export const hostWiped: Fault = {
  name: 'host-wiped',
  title:
    'Somebody reinstalls a Mac in the console of Scaleway while a machine holds it: it answered no more, and nobody knew why.',
  watch: ['tartan fleet -w', 'kubectl get samm -w', 'kubectl get machosts -w'],
  play: async (context) => {
    const { report, simulation } = context;
    const { name, server } = await pickReadyMachine(context);
    await simulation.macs.pool.reinstall(server.zone, server.id, undefined);
    report(`The Mac of ${name} is being reinstalled, and nobody has asked Tartan.`);
    const down = await untilOne(
      context,
      machine.resource,
      `${name} says that it is not Ready`,
      (each) => each.metadata.name === name && failingCondition(each, 'Ready') !== undefined,
    );
    report(`${name} is not Ready: ${failingCondition(down, 'Ready') ?? ''}`);
    const { client } = simulation.controlPlane;
    report(`A person deletes the Machine: kubectl delete machine ${name}`);
    await client.delete(coreKinds.machines, { namespace, name });
    await untilGone(context, machine.resource, name);
    await untilAll(context, coreKinds.machineDeployments, 'the fleets are complete again', (all) =>
      all.every(({ spec, status }) => status?.availableReplicas === spec?.['replicas']),
    );
    return `Another machine has taken the place of ${name}, and its Mac is on its way back to the pool, wiped once more. A person deletes the Machine, as here, and asks who uses the console.`;
  },
};

export const reinstallWithoutWipe: Fault = {
  name: 'reinstall-without-wipe',
  title:
    'Scaleway says that a Mac was reinstalled, and it was not: the next machine got the disk, the agent and the secrets of the last.',
  watch: ['tartan pool -w', 'kubectl get machosts -w', 'kubectl get samm -w'],
  play: async (context) => {
    const { report, simulation } = context;
    const host = await pickFreeHost(context);
    const { id } = host.server;
    const { reinstallDoesNotWipe } = simulation.macs.scaleway.faults;
    const machines: TemporaryMachine[] = [];
    try {
      const first = await createTemporaryMachine(context, host);
      machines.push(first);
      await first.untilReady();
      reinstallDoesNotWipe.add(id);
      report(`From now on, a reinstall of the Mac ${id} changes nothing. Its machine is deleted.`);
      await first.remove();
      await untilOne(
        context,
        macHost.resource,
        'it is in the pool',
        ({ metadata, status }) => metadata.name === id && status?.state === 'pool',
      );
      report('Scaleway has said reinstalling, then ready: it is in the pool again. Another machine gets it.');
      const second = await createTemporaryMachine(context, host);
      machines.push(second);
      await untilOne(
        context,
        macHost.resource,
        'it is given back',
        ({ metadata, spec }) => metadata.name === id && spec.release?.reason === 'NotWiped',
      );
      report(
        'At first contact it shows the SSH host key of the machine before: nothing on it is touched, and it is wiped again.',
      );
      reinstallDoesNotWipe.delete(id);
      report(`Scaleway is mended, and the Mac is in quarantine: ${await untilQuarantined(context, host)}`);
    } finally {
      reinstallDoesNotWipe.delete(id);
      for (const each of machines) await each.remove();
    }
    await endQuarantine(context, host);
    return 'A Mac that was not wiped is never used: its old host key gives it away. A person asks Scaleway what became of the reinstall.';
  },
};

/** Until the Mac is wiped and in quarantine. Answers why it is. */
const untilQuarantined = async (context: FaultContext, { server }: SimulatedHost): Promise<string> => {
  const { status } = await untilOne(
    context,
    macHost.resource,
    'the Mac is in quarantine',
    ({ metadata, spec, status: seen }) =>
      metadata.name === server.id && spec.release === undefined && seen?.state === 'quarantined',
  );
  return status?.quarantine?.reason ?? '';
};

/** What a person does with a Mac that is well again: its MacHost is forgotten, and found again by its name. */
const endQuarantine = async (context: FaultContext, { server }: SimulatedHost): Promise<void> => {
  context.report(`A person who has looked at the Mac ends its quarantine: kubectl delete machost ${server.id}`);
  await context.simulation.controlPlane.client.delete(macHost.resource, { name: server.id });
  await untilOne(
    context,
    macHost.resource,
    'the Mac is in the pool',
    ({ metadata, status }) => metadata.name === server.id && status?.state === 'pool',
  );
};
