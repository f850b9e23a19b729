import {
  requeueAfter,
  type Controller,
  createController,
  fromInformer,
  requestForObject,
  keyOf,
  requestForOwner,
  nameOf,
  type ReconcileResult,
  patchStatus,
  done,
} from '@tartan/kube';
import { pausedCondition } from '../conditions/paused.ts';
import type { Context, PassOptions } from '../context.ts';
import { ownersOfKind, refersTo } from '../contract/externals.ts';
import { type MachineSet, machineSets } from '../kinds.ts';
import { selects } from '../selection/label-selector.ts';
import { lookingAgain } from '../writing/reconcile.ts';
import { act, deleteOrphans, followTemplate, ownTemplate, settleMachineSet } from './act.ts';
import { decide } from './decide.ts';
import { observe } from './observe.ts';
import { pausedStatus, statusOf } from './status.ts';

/** Keeps as many Machines as are wanted, each with infrastructure cloned from the template. */
export const createMachineSetController = (context: Context): Controller => {
  const { client, caches, externals, clock, log } = context;

  const reconcile = async (key: string, options: PassOptions): Promise<ReconcileResult> => {
    const { name, namespace = '' } = nameOf(key);
    const seen = await observe(context, { name, namespace }, options);
    if (!seen) return done;
    if (pausedCondition(seen.cluster, 'MachineSet', seen.machineSet).status === 'True') {
      await patchStatus(client, machineSets, seen.machineSet, pausedStatus(seen), options);
      return done;
    }
    const snapshot = { ...seen, machineSet: await settleMachineSet(context, seen, options) };
    await ownTemplate(context, snapshot, options);
    if (snapshot.machineSet.metadata.deletionTimestamp === undefined) {
      await followTemplate(context, snapshot, options);
      await deleteOrphans(context, snapshot, options);
    }
    const decision = decide(snapshot);
    log.debug('Looked at a MachineSet', { key, decision });
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
    reconcile: lookingAgain((key, signal) => reconcile(key, { signal })),
    sources: [
      fromInformer(caches.machineSets, requestForObject),
      fromInformer(caches.machines, requestForOwner(machineSets)),
      // One that nobody owns may be adopted.
      fromInformer(caches.machines, ({ metadata }) =>
        (metadata.ownerReferences ?? []).length > 0
          ? []
          : keysOf(
              (set) =>
                set.metadata?.namespace === metadata.namespace &&
                set.spec?.selector !== undefined &&
                selects(set.spec.selector, metadata.labels),
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
