import { randomBytes } from 'node:crypto';
import { machine, type MacHost, macHost } from '@tartan/api';
import { ignoreNotFound, type Live } from '@tartan/kube';
import { claimPrefix, coreKinds, fleetNamespace as namespace } from '@tartan/sim-fleet';
import type { Fault, FaultContext } from '../fault.ts';
import { pickFreeHost, pickReadyMachine, type SimulatedHost } from '../targets.ts';
import { createTemporaryMachine, failingCondition, type TemporaryMachine } from '../temporary-objects.ts';
import { untilAll, untilDeleted, untilNamed } from '../wait.ts';

const untilHost = (
  context: FaultContext,
  { id }: SimulatedHost['server'],
  what: string,
  holds: (host: Live<MacHost>) => boolean,
): Promise<Live<MacHost>> => untilNamed(context, macHost.resource, id, what, holds);

const untilFleetsComplete = (context: FaultContext): Promise<void> =>
  untilAll(context, coreKinds.machineDeployments, 'all fleets were complete again', (all) =>
    all.every(({ spec, status }) => status?.availableReplicas === spec?.['replicas']),
  );

/** The managers see no change before this returns. */
const whileManagersAreFrozen = async <T>({ simulation }: FaultContext, work: () => Promise<T>): Promise<T> => {
  const managers = simulation.managerDeployment.running();
  try {
    for (const each of managers) each.kill('SIGSTOP');
    return await work();
  } finally {
    for (const each of managers) each.kill('SIGCONT');
  }
};

export const strandedHosts: Fault = {
  name: 'stranded-hosts',
  title: 'A machine is deleted without its finalizer: Scaleway billed the Mac for 14 days, unused (tuist/tuist#11056).',
  watch: ['tartan orphans -w', 'tartan pool -w', 'kubectl get machosts -w'],
  run: async (context) => {
    const { report, simulation } = context;
    const { client } = simulation.controlPlane;
    const { name, server } = await pickReadyMachine(context);
    const { installs } = server;
    const here = { namespace, name };
    // Otherwise a manager would release the Mac before the finalizer is gone.
    await whileManagersAreFrozen(context, async () => {
      await client.delete(machine.resource, here);
      await client.patch(machine.resource, here, { type: 'merge', body: { metadata: { finalizers: null } } });
      await ignoreNotFound(client.delete(coreKinds.machines, here));
    });
    report(
      `The machine ${name} is deleted by force. No manager has released its Mac ${server.id}, which keeps its name.`,
    );
    await untilHost(context, server, 'is stranded', ({ status }) => status?.state === 'stranded');
    report(
      'The inventory finds the Mac stranded: no machine holds it, and it is in no pool. scaleway_orphan_servers is 1.',
    );
    await untilHost(context, server, 'is released', ({ spec }) => spec.release !== undefined);
    report('The sweep has read all machines again, without a cache, and releases the Mac.');
    await untilHost(
      context,
      server,
      'is wiped and free',
      ({ spec }) => spec.release === undefined && server.installs > installs,
    );
    await untilFleetsComplete(context);
    return 'The Mac was wiped and is back in the pool, and the fleet has its machine again. Without --orphan-reclaim-claim-name-prefix the sweep only reports the Mac: run tartan orphans.';
  },
};

export const adoptionDuringSweep: Fault = {
  name: 'adoption-during-sweep',
  title:
    'A machine adopts a stranded Mac at the moment in which the sweep is about to wipe it (review of tuist/tuist#11056).',
  watch: ['kubectl get machosts -w', 'kubectl get samm -w'],
  run: async (context) => {
    const { report, simulation } = context;
    const { server } = await pickFreeHost(context);
    const [poolName, name] = [server.name, `${claimPrefix}adopts-${randomBytes(2).toString('hex')}`];
    let extra: TemporaryMachine | undefined;
    try {
      server.name = name;
      report(`The Mac ${server.id} is now named ${name}, as if its machine had vanished during a claim.`);
      await untilHost(context, server, 'is stranded', ({ status }) => status?.state === 'stranded');
      report(
        'The inventory finds the Mac stranded, and the next sweep may wipe it. Now the machine of that name is created.',
      );
      // The managers continue with an outdated list of machines.
      extra = await whileManagersAreFrozen(context, () => createTemporaryMachine(context, undefined, name));
      const claimed = await extra.until('holds a Mac', ({ status }) => status?.serverID !== undefined);
      const held = simulation.macs.scaleway.servers().find(({ id }) => id === claimed.status?.serverID);
      const installs = held?.installs;
      const first = held?.id === server.id && installs === server.installs ? 'the machine' : 'the sweep';
      await extra.untilReady();
      if (held === undefined || held.installs !== installs) throw new Error('a Mac was wiped while a machine held it');
      const host = await untilHost(context, held, 'exists', () => true);
      if (host.spec.consumerRef?.name !== name) throw new Error('another machine holds the Mac');
      report(`${name} is Ready on ${held.id}, which was not wiped since: ${first} came first.`);
    } finally {
      if (extra === undefined) server.name = poolName;
      else await extra.remove();
    }
    return 'Release and claim write to the same object, and only one write succeeds: no Mac was wiped while a machine held it. Nothing to do.';
  },
};

export const hostWiped: Fault = {
  name: 'host-wiped',
  title:
    'A person reinstalls a Mac in the console of Scaleway while a machine holds it: the Mac stopped answering without a visible cause.',
  watch: ['tartan fleet -w', 'kubectl get samm -w', 'kubectl get machosts -w'],
  run: async (context) => {
    const { report, simulation } = context;
    const { name, server } = await pickReadyMachine(context);
    await simulation.macs.pool.reinstall(server.zone, server.id, undefined);
    report(`Scaleway reinstalls the Mac of ${name}. Tartan did not request it.`);
    const down = await untilNamed(
      context,
      machine.resource,
      name,
      'is not Ready',
      (each) => failingCondition(each, 'Ready') !== undefined,
    );
    report(`${name} is not Ready: ${failingCondition(down, 'Ready') ?? ''}`);
    report(`An operator deletes the Machine: kubectl delete machine ${name}`);
    await simulation.controlPlane.client.delete(coreKinds.machines, { namespace, name });
    await untilDeleted(context, machine.resource, name);
    await untilFleetsComplete(context);
    return `Another machine has replaced ${name}. Its Mac is wiped again and returns to the pool. An operator deletes the Machine, as here, and finds out who uses the console.`;
  },
};

export const reinstallWithoutWipe: Fault = {
  name: 'reinstall-without-wipe',
  title:
    'Scaleway reports a reinstall that did not happen: the next machine got the disk, the agent and the secrets of the previous one.',
  watch: ['tartan pool -w', 'kubectl get machosts -w', 'kubectl get samm -w'],
  run: async (context) => {
    const { report, simulation } = context;
    const host = await pickFreeHost(context);
    const { server } = host;
    const { reinstallDoesNotWipe } = simulation.macs.scaleway.faults;
    const machines: TemporaryMachine[] = [];
    try {
      const first = await createTemporaryMachine(context, host);
      machines.push(first);
      await first.untilReady();
      reinstallDoesNotWipe.add(server.id);
      report(`From now on, a reinstall of the Mac ${server.id} changes nothing. Its machine is deleted.`);
      await first.remove();
      await untilHost(context, server, 'is in the pool', ({ status }) => status?.state === 'pool');
      report(
        'Scaleway has reported reinstalling, then ready: the Mac is in the pool again. Another machine claims it.',
      );
      machines.push(await createTemporaryMachine(context, host));
      await untilHost(context, server, 'is released', ({ spec }) => spec.release?.reason === 'NotWiped');
      report(
        'At the first connection the Mac shows the SSH host key of the previous machine: the manager changes nothing on it, and releases it.',
      );
      reinstallDoesNotWipe.delete(server.id);
      const { status } = await untilHost(
        context,
        server,
        'is in quarantine',
        (each) => each.spec.release === undefined && each.status?.state === 'quarantined',
      );
      report(`Scaleway works again, and the Mac is in quarantine: ${status?.quarantine?.reason ?? ''}`);
    } finally {
      reinstallDoesNotWipe.delete(server.id);
      for (const each of machines) await each.remove();
    }
    report(`An operator who has checked the Mac ends its quarantine: kubectl delete machost ${server.id}`);
    await simulation.controlPlane.client.delete(macHost.resource, { name: server.id });
    await untilHost(context, server, 'is in the pool', ({ status }) => status?.state === 'pool');
    return 'Tartan recognises a Mac that was not wiped by its old host key, and never uses it. An operator asks Scaleway why the reinstall failed.';
  },
};
