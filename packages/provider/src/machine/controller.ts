import { machine as machineKind } from '@tartan/api';
import { again, type Controller, createController, isKubeError, nameOf, type Reconcile, settled } from '@tartan/kube';
import { createAbsences } from '../pods/absences.ts';
import type { Act, World } from './act/context.ts';
import { carryOut } from './act.ts';
import { clusterNameOf, pausesOf } from '../pause/pauses.ts';
import { readCluster } from '../pause/read-pauses.ts';
import { decide } from './decide.ts';
import { type Decision, isPassive } from './decision.ts';
import { happeningsOf } from './happenings.ts';
import { createHaste } from './haste.ts';
import { nodeAddresses } from './node-facts.ts';
import { observe } from './observe.ts';
import type { MachineControllerOptions } from './options.ts';
import { createPauses } from './pauses.ts';
import { createPushSlots } from './push-slots.ts';
import { createRecord, type Machine } from './record.ts';
import type { Result } from './result.ts';
import { createRunningPushes } from './running-pushes.ts';
import { createSilences } from './silences.ts';
import type { Snapshot } from './snapshot.ts';
import { sourcesOf } from './sources.ts';
import { statusOf } from './status.ts';
import { waits } from './waits.ts';

export type { MachineControllerOptions } from './options.ts';

/** Beside those that push: a machine that only has to be looked at does not wait for a Mac that is being made ready. */
const workersBesides = 8;

/**
 * A machine from its first sight to its end: claims a Mac, makes it ready, keeps its Node and what it has as they shall be, gives it back.
 * Needs: get, list, watch, patch of machines and patch of their status; get, list, watch, patch of machosts; get, list, watch of macfleets;
 * get, list, watch of clusters and list, watch of certificatesigningrequests; get, list, watch, patch, delete of nodes; list of pods; get of leases in kube-node-lease; get,
 * create, patch, delete of Secrets in its own namespace and create, delete of those in kube-system; delete of serviceaccounts and
 * clusterrolebindings of the original; create, patch of events.
 */
export const createMachineController = (options: MachineControllerOptions): Controller => {
  const { clock, log, metrics, options: settings } = options;
  const world: World = {
    ...options,
    absences: createAbsences(clock),
    pauses: createPauses(clock),
    silences: createSilences(clock),
    haste: createHaste(),
    slots: createPushSlots(settings.machineWorkers),
    pushes: createRunningPushes(),
  };
  return createController({
    name: 'machine',
    reconcile: reconciler(world),
    sources: sourcesOf(world, world.pushes, world),
    workers: settings.machineWorkers + workersBesides,
    clock,
    log,
    ...(metrics && { metrics }),
  });
};

/**
 * One pass: look, decide, do one thing, say how it is. A write that met somebody else's is no failure: the next pass sees both.
 * Any other write that failed, of the status above all, fails the pass: what could not be written down has not happened.
 */
const reconciler =
  (world: World): Reconcile =>
  async (key, signal) => {
    try {
      const machine = await read(world, key, signal);
      return machine === undefined ? settled : await pass(world, machine, signal);
    } catch (error) {
      if (isKubeError(error, 'conflict')) return again(waits.conflict);
      throw error;
    }
  };

/** From the server: a pass that believes an old copy would claim twice, or push what is not wanted any more. */
const read = async (
  { client, machines, pauses, silences }: World,
  key: string,
  signal: AbortSignal,
): Promise<Machine | undefined> => {
  try {
    return await client.get(machineKind.resource, nameOf(key), { signal });
  } catch (error) {
    if (!isKubeError(error, 'notFound')) throw error;
    const last = machines.get(key);
    if (last !== undefined) for (const memory of [pauses, silences]) memory.forget(last.metadata.uid);
    return undefined;
  }
};

/** The machine was read from the server, its Cluster comes from a watch: before anything is done, the Cluster is read from the server too. */
const decideUnlessPaused = async (
  world: World,
  machine: Machine,
  snapshot: Snapshot,
  signal: AbortSignal,
): Promise<Decision> => {
  const decision = decide(snapshot);
  const name = clusterNameOf(machine);
  if (isPassive(decision) || name === undefined) return decision;
  const pauses = pausesOf(machine, await readCluster(world, name, { signal }));
  return pauses.length === 0 ? decision : decide({ ...snapshot, cluster: { ...snapshot.cluster, pauses } });
};

const pass = async (world: World, machine: Machine, signal: AbortSignal): ReturnType<Reconcile> => {
  const record = createRecord(world.client, machine, signal);
  const observation = await observe(world, machine, signal);
  const { snapshot, host, node } = observation;
  const decision = await decideUnlessPaused(world, machine, snapshot, signal);
  const { name, namespace } = machine.metadata;
  world.log.debug('Looked at a machine', { namespace, name, decision });

  const toldOf = (result: Result) => ({
    snapshot,
    decision,
    result,
    ip: host?.status?.ip,
    nodeAddresses: nodeAddresses(node, snapshot.node),
    releaseID: world.options.releaseID,
  });
  const tell = async (result: Result, parted = false): Promise<void> => {
    const told = toldOf(result);
    const before = record.machine.status ?? {};
    if (!parted && decision.kind !== 'leave') await record.write((status, current) => statusOf(status, current, told));
    for (const happening of happeningsOf(told, before, record.machine.status ?? {}))
      world.events.event(record.machine, happening);
  };
  const act: Act = { world, record, observation, signal, announce: () => tell({ kind: 'under way' }) };
  const { result, next, parted } = await carryOut(act, decision);
  await tell(result, parted);
  return world.haste.temper(machine.metadata.uid, next);
};
