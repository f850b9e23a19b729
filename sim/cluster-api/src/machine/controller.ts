import { isDeepStrictEqual } from 'node:util';
import {
  type Controller,
  createController,
  done,
  fromInformer,
  keyOf,
  type Live,
  nameOf,
  patchStatus,
  type Predicate,
  type ReconcileResult,
  requestForObject,
  requeueAfter,
} from '@tartan/kube';
import { pausedCondition } from '../conditions/paused.ts';
import type { Context, ReconcileOptions } from '../context.ts';
import { ownersOfKind, refersTo } from '../external/object-tracker.ts';
import { type Machine, machines } from '../kinds.ts';
import { finalizers, labels } from '../names.ts';
import { patchIfChanged, requeueOnConflict, withFinalizer } from '../writes.ts';
import {
  cordonNode,
  deleteInfrastructure,
  ensureMachineMetadata,
  evictPods,
  finishDeletion,
  ownInfrastructure,
  patchNode,
  recordStartTime,
} from './actions.ts';
import { decideDeletion } from './deletion.ts';
import { isDeleting, type Node, nodesOf, observe, observeDeletion, type Snapshot } from './snapshot.ts';
import { availableInMs, pausedStatus, statusOf } from './status.ts';

const comparedFields = ({ metadata, spec, status }: Live<Node>): unknown => [
  metadata.labels,
  metadata.annotations,
  metadata.deletionTimestamp,
  spec,
  status?.nodeInfo,
  status?.conditions?.map(({ type, status: value, reason, message }) => [type, value, reason, message]),
];

/** Ignores heartbeats of Nodes. */
export const nodeChanged: Predicate<Node> = (change) =>
  change.type !== 'changed' || !isDeepStrictEqual(comparedFields(change.previous), comparedFields(change.object));

/** Binds a Machine to its infrastructure and its Node, reports their state, and deletes them in order. */
export const createMachineController = (context: Context): Controller => {
  const { client, caches, externals, clock, log } = context;

  const reconcile = async (key: string, options: ReconcileOptions): Promise<ReconcileResult> => {
    const { name, namespace = '' } = nameOf(key);
    const first = await observe(context, { name, namespace }, options);
    if (!first) return done;
    const seen = { ...first, machine: await ensureFinalizer(first.machine, options) };
    if (pausedCondition(seen.cluster, 'Machine', seen.machine).status === 'True') {
      await patchStatus(client, machines, seen.machine, pausedStatus(seen), options);
      return done;
    }
    await ownInfrastructure(context, seen, options);
    const machine = await ensureMachineMetadata(context, seen, options);
    const snapshot: Snapshot = { ...seen, machine, nodes: seen.connected ? nodesOf(caches, machine) : [] };
    await patchNode(context, snapshot, options);
    return isDeleting(machine) ? reconcileDelete(snapshot, options) : reconcileNormal(snapshot, options);
  };

  /** The finalizer comes before any side effect. */
  const ensureFinalizer = async (machine: Live<Machine>, options: ReconcileOptions): Promise<Live<Machine>> =>
    isDeleting(machine)
      ? machine
      : patchIfChanged(
          client,
          machines,
          machine,
          { metadata: { finalizers: withFinalizer(machine, finalizers.machine) } },
          options,
        );

  const reconcileNormal = async (snapshot: Snapshot, options: ReconcileOptions): Promise<ReconcileResult> => {
    const status = statusOf(snapshot, undefined);
    await patchStatus(client, machines, snapshot.machine, status, options);
    if (snapshot.infrastructure?.object === undefined) return requeueAfter(context.intervals.externalRetryMs);
    const waitMs = availableInMs(snapshot, status.conditions);
    return waitMs > 0 ? requeueAfter(waitMs) : done;
  };

  const reconcileDelete = async (snapshot: Snapshot, options: ReconcileOptions): Promise<ReconcileResult> => {
    const leaving = await observeDeletion(context, snapshot, options);
    const deletion = decideDeletion(snapshot, leaving);
    log.debug('Deleting Machine', { machine: snapshot.machine.metadata.name, deletion });
    const machine = await recordStartTime(context, snapshot, deletion, options);
    const current = { ...snapshot, machine };
    const say = (failures: ReadonlyMap<string, string> = new Map()): Promise<Live<Machine>> =>
      patchStatus(client, machines, machine, statusOf(current, { deletion, failures }), options);
    switch (deletion.kind) {
      case 'wait':
      case 'waitForInfrastructure':
        await say();
        return done;
      case 'cannotDrain':
        await say();
        return requeueAfter(context.intervals.externalRetryMs);
      case 'cordon':
        await say();
        await cordonNode(context, deletion.node, options);
        // The change of the infrastructure object triggers the next reconcile.
        return done;
      case 'drain':
        await say(await evictPods(context, deletion, options));
        return requeueAfter(context.intervals.drainRetryMs);
      case 'deleteInfrastructure':
        await deleteInfrastructure(context, current, options);
        await say();
        return done;
      case 'finish':
        await finishDeletion(context, { ...current, machine: await say() }, deletion.node, options);
        return done;
    }
  };

  const inNamespace = (namespace: string | undefined, holds: (machine: Live<Machine>) => boolean): string[] =>
    caches.machines
      .list()
      .filter((machine) => machine.metadata.namespace === namespace && holds(machine))
      .map(({ metadata }) => keyOf(metadata));

  return createController({
    name: 'machine',
    reconcile: requeueOnConflict((key, signal) => reconcile(key, { signal })),
    sources: [
      fromInformer(caches.machines, requestForObject),
      fromInformer(caches.clusters, ({ metadata }) =>
        inNamespace(metadata.namespace, ({ spec }) => spec?.clusterName === metadata.name),
      ),
      // Whether a Machine is up to date, and the taint of its Node, depend on both.
      fromInformer(caches.machineSets, ({ metadata }) =>
        inNamespace(metadata.namespace, (machine) => machine.metadata.labels?.[labels.setName] === metadata.name),
      ),
      fromInformer(caches.machineDeployments, ({ metadata }) =>
        inNamespace(
          metadata.namespace,
          (machine) => machine.metadata.labels?.[labels.deploymentName] === metadata.name,
        ),
      ),
      fromInformer(
        caches.nodes,
        ({ metadata, spec }) =>
          caches.machines
            .list()
            .filter(
              (machine) =>
                machine.status?.nodeRef?.name === metadata.name ||
                (spec?.providerID !== undefined && machine.spec?.providerID === spec.providerID),
            )
            .map((machine) => keyOf(machine.metadata)),
        nodeChanged,
      ),
      externals.source((object) => [
        ...ownersOfKind('Machine')(object),
        ...inNamespace(object.metadata.namespace, ({ spec }) => refersTo(spec?.infrastructureRef, object)),
      ]),
    ],
    clock,
    log,
    workers: 4,
  });
};
