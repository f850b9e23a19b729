import {
  type Controller,
  createController,
  done,
  fromInformer,
  getControllerOf,
  keyOf,
  type Live,
  nameOf,
  patchStatus,
  type ReconcileResult,
  requestForObject,
  requestForOwner,
  requeueAfter,
} from '@tartan/kube';
import {
  countMachines,
  deletingCondition,
  machinesReady,
  machinesUpToDate,
  notRemediating,
  scalingConditions,
} from '../conditions/machines.ts';
import { setConditions } from '../conditions/operations.ts';
import { pausedCondition } from '../conditions/paused.ts';
import type { Context, ReconcileOptions } from '../context.ts';
import { ownersOfKind, refersTo } from '../external/object-tracker.ts';
import {
  clusters,
  type Machine,
  machineDeployments,
  machines,
  type MachineSet,
  machineSets,
  type MachineSetStatus,
} from '../kinds.ts';
import { printSelector, selectorMatches } from '../label-selector.ts';
import { labels } from '../names.ts';
import { ignoreNotFound, requeueOnConflict } from '../writes.ts';
import { act, deleteOrphans, ensureMachineSetMetadata, ownTemplate, syncMachines } from './actions.ts';
import { decide, type Snapshot } from './scaling.ts';

const isOurs = (machineSet: Live<MachineSet>, machine: Live<Machine>): boolean => {
  const owner = getControllerOf(machine);
  // A Machine that is being deleted is not adopted.
  return owner ? owner.uid === machineSet.metadata.uid : machine.metadata.deletionTimestamp === undefined;
};

/** Undefined: the MachineSet is gone, or its Cluster does not exist. */
const observe = async (
  { client, externals, clock }: Context,
  name: { namespace: string; name: string },
  options: ReconcileOptions,
): Promise<Snapshot | undefined> => {
  const { namespace } = name;
  const machineSet = await ignoreNotFound(client.get(machineSets, name, options));
  if (!machineSet) return undefined;
  const { clusterName, selector, template } = machineSet.spec ?? {};
  const cluster = await ignoreNotFound(client.get(clusters, { namespace, name: clusterName || '-' }, options));
  if (!cluster) return undefined;
  const deployment = machineSet.metadata.labels?.[labels.deploymentName];
  const labelSelector = printSelector(selector) || `${labels.setName}=${name.name}`;
  const { items } = await client.list(machines, { namespace, labelSelector, ...options });
  const ref = template?.spec?.infrastructureRef;
  return {
    machineSet,
    cluster,
    machineDeployment: deployment
      ? await ignoreNotFound(client.get(machineDeployments, { namespace, name: deployment }, options))
      : undefined,
    machines: items.filter((machine) => isOurs(machineSet, machine)),
    template: ref && (await externals.read(namespace, ref, options)),
    now: clock.now(),
  };
};

const missingTemplate = ({ template }: Snapshot): string | undefined =>
  template && !template.object ? `${template.ref.kind} does not exist` : undefined;

const statusOf = (snapshot: Snapshot): MachineSetStatus => {
  const { machineSet, machines, cluster, now } = snapshot;
  const { generation, deletionTimestamp } = machineSet.metadata;
  const deleting = deletionTimestamp !== undefined;
  const desired = deleting ? 0 : (machineSet.spec?.replicas ?? 1);
  return {
    ...machineSet.status,
    ...countMachines(machines),
    selector: printSelector(machineSet.spec?.selector),
    conditions: setConditions(
      machineSet.status?.conditions,
      [
        pausedCondition(cluster, 'MachineSet', machineSet),
        ...scalingConditions(machines.length, desired, missingTemplate(snapshot)),
        machinesReady(machines),
        machinesUpToDate(machines),
        notRemediating,
        deletingCondition(deleting, machines.length),
      ],
      { now, generation },
    ),
    ...(generation !== undefined && { observedGeneration: generation }),
  };
};

/** A paused object gets only the condition Paused. */
const pausedStatus = ({ machineSet, cluster, now }: Snapshot): MachineSetStatus => ({
  ...machineSet.status,
  conditions: setConditions(machineSet.status?.conditions, [pausedCondition(cluster, 'MachineSet', machineSet)], {
    now,
    generation: machineSet.metadata.generation,
  }),
});

/** Keeps the desired number of Machines, each with infrastructure cloned from the template. */
export const createMachineSetController = (context: Context): Controller => {
  const { client, caches, externals, clock, log } = context;

  const reconcile = async (key: string, options: ReconcileOptions): Promise<ReconcileResult> => {
    const { name, namespace = '' } = nameOf(key);
    const seen = await observe(context, { name, namespace }, options);
    if (!seen) return done;
    if (pausedCondition(seen.cluster, 'MachineSet', seen.machineSet).status === 'True') {
      await patchStatus(client, machineSets, seen.machineSet, pausedStatus(seen), options);
      return done;
    }
    const snapshot = { ...seen, machineSet: await ensureMachineSetMetadata(context, seen, options) };
    await ownTemplate(context, snapshot, options);
    if (snapshot.machineSet.metadata.deletionTimestamp === undefined) {
      await syncMachines(context, snapshot, options);
      await deleteOrphans(context, snapshot, options);
    }
    const decision = decide(snapshot);
    log.debug('Reconciled MachineSet', { key, decision });
    const machineSet = await patchStatus(client, machineSets, snapshot.machineSet, statusOf(snapshot), options);
    await act(context, { ...snapshot, machineSet }, decision, options);
    const stuck = decision.kind === 'create' && !snapshot.template?.object;
    return stuck ? requeueAfter(context.intervals.externalRetryMs) : done;
  };

  const keysOf = (holds: (machineSet: MachineSet) => boolean): string[] =>
    caches.machineSets
      .list()
      .filter(holds)
      .map(({ metadata }) => keyOf(metadata));

  return createController({
    name: 'machineset',
    reconcile: requeueOnConflict((key, signal) => reconcile(key, { signal })),
    sources: [
      fromInformer(caches.machineSets, requestForObject),
      fromInformer(caches.machines, requestForOwner(machineSets)),
      // A Machine without an owner may be adopted.
      fromInformer(caches.machines, ({ metadata }) =>
        (metadata.ownerReferences ?? []).length > 0
          ? []
          : keysOf(
              (set) =>
                set.metadata?.namespace === metadata.namespace &&
                set.spec?.selector !== undefined &&
                selectorMatches(set.spec.selector, metadata.labels),
            ),
      ),
      fromInformer(caches.clusters, ({ metadata }) =>
        keysOf((set) => set.metadata?.namespace === metadata.namespace && set.spec?.clusterName === metadata.name),
      ),
      externals.source((object) => [
        ...ownersOfKind('MachineSet')(object),
        ...keysOf(
          (set) =>
            set.metadata?.namespace === object.metadata.namespace &&
            refersTo(set.spec?.template?.spec?.infrastructureRef, object),
        ),
      ]),
    ],
    clock,
    log,
    workers: 2,
  });
};
