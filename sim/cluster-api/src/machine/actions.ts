import { isKubeError, type Live, nameOf, nodes, patchStatus } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { Context, ReconcileOptions } from '../context.ts';
import { isProvisioned, providerIDOf } from '../external/contract.ts';
import { type Machine, machines, type MachineStatus } from '../kinds.ts';
import { defaultNodeDeletionTimeoutSeconds, finalizers, labels } from '../names.ts';
import {
  controllerReference,
  hasOwnerOfKind,
  ownerReference,
  withoutOwnersOfKind,
  withOwner,
} from '../owner-references.ts';
import { ignoreNotFound, patchIfChanged, withoutFinalizer } from '../writes.ts';
import type { Deletion } from './deletion.ts';
import type { DrainPlan } from './drain.ts';
import { nodePatch } from './node-patch.ts';
import { isDeleting, type Snapshot } from './snapshot.ts';

/** Makes the Machine own the provider's object, in place of the MachineSet that cloned it. */
export const ownInfrastructure = async (
  { client }: Context,
  { machine, infrastructure }: Snapshot,
  options: ReconcileOptions,
): Promise<void> => {
  const { kind, object } = infrastructure ?? {};
  if (!kind || !object || isDeleting(object)) return;
  const ownerReferences = withoutOwnersOfKind(withOwner(object, controllerReference('Machine', machine)), 'MachineSet');
  const metadata = { ownerReferences, labels: { [labels.clusterName]: machine.spec?.clusterName ?? '' } };
  await patchIfChanged(client, kind.resource, object, { metadata }, options);
};

/** Writes labels, an owner if it has none, and the provider ID once the provider reports that it is provisioned. */
export const ensureMachineMetadata = async (
  { client }: Context,
  { machine, cluster, infrastructure }: Snapshot,
  options: ReconcileOptions,
): Promise<Live<Machine>> => {
  const { object, contract = 'v1beta2' } = infrastructure ?? {};
  const provisioned =
    machine.status?.initialization?.infrastructureProvisioned === true ||
    (object !== undefined && isProvisioned(object, contract));
  const providerID = object && !isDeleting(object) && provisioned ? providerIDOf(object) : undefined;
  const isAlone = !hasOwnerOfKind(machine, 'Cluster', 'MachineSet') && !(labels.setName in labelsOf(machine));
  return patchIfChanged(
    client,
    machines,
    machine,
    {
      metadata: {
        labels: { [labels.clusterName]: machine.spec?.clusterName ?? '' },
        ...(isAlone && { ownerReferences: withOwner(machine, ownerReference('Cluster', cluster)) }),
      },
      spec: {
        // As for MachineDeployments, a default of core's webhook.
        deletion: {
          nodeDeletionTimeoutSeconds:
            machine.spec?.deletion?.nodeDeletionTimeoutSeconds ?? defaultNodeDeletionTimeoutSeconds,
        },
        ...(providerID !== undefined && { providerID }),
      },
    },
    options,
  );
};

const labelsOf = ({ metadata }: Live<Machine>): Record<string, string> => metadata.labels ?? {};

export const patchNode = async ({ client }: Context, snapshot: Snapshot, options: ReconcileOptions): Promise<void> => {
  const [node, ...more] = snapshot.nodes;
  if (!node || more.length > 0) return;
  const body = nodePatch(node, snapshot);
  if (body) await ignoreNotFound(client.patch(nodes, { name: node.metadata.name }, { type: 'merge', body }, options));
};

/** Records when a wait or a drain has begun, before its first action. */
export const recordStartTime = async (
  { client }: Context,
  { machine, now }: Snapshot,
  deletion: Deletion,
  options: ReconcileOptions,
): Promise<Live<Machine>> => {
  const field = startFieldOf(deletion);
  const before = machine.status?.deletion;
  if (field === undefined || before?.[field] !== undefined) return machine;
  const status: MachineStatus = { ...machine.status, deletion: { ...before, [field]: timestamp(now) } };
  return patchStatus(client, machines, machine, status, options);
};

const startFieldOf = (deletion: Deletion): keyof NonNullable<MachineStatus['deletion']> | undefined => {
  switch (deletion.kind) {
    case 'wait':
      return deletion.for === 'preDrainHooks' ? 'waitForPreDrainHookStartTime' : 'waitForPreTerminateHookStartTime';
    case 'cordon':
    case 'drain':
    case 'cannotDrain':
      return 'nodeDrainStartTime';
    case 'deleteInfrastructure':
    case 'waitForInfrastructure':
    case 'finish':
      return undefined;
  }
};

export const cordonNode = async ({ client }: Context, name: string, options: ReconcileOptions): Promise<void> => {
  await ignoreNotFound(
    client.patch(nodes, { name }, { type: 'merge', body: { spec: { unschedulable: true } } }, options),
  );
};

/** Returns the Pods that were not evicted, and why. */
export const evictPods = async (
  { evictPod }: Context,
  { plan, unreachable }: { plan: DrainPlan; unreachable: boolean },
  options: ReconcileOptions,
): Promise<ReadonlyMap<string, string>> => {
  const failures = new Map<string, string>();
  for (const key of plan.evict) {
    try {
      // An unreachable kubelet ends no Pod, whatever its grace period.
      await evictPod(nameOf(key), { ...options, ...(unreachable && { gracePeriodSeconds: 1 }) });
    } catch (error) {
      if (isKubeError(error, 'notFound')) continue;
      if (isKubeError(error, 'aborted') || !(error instanceof Error)) throw error;
      failures.set(key, error.message);
    }
  }
  return failures;
};

export const deleteInfrastructure = async (
  { client }: Context,
  { infrastructure }: Snapshot,
  options: ReconcileOptions,
): Promise<void> => {
  const { kind, object } = infrastructure ?? {};
  if (!kind || !object) return;
  const { name, uid } = object.metadata;
  const { namespace = '' } = object.metadata;
  await ignoreNotFound(client.delete(kind.resource, { namespace, name }, { ...options, preconditions: { uid } }));
};

/** Deletes the Node, then removes the finalizer. A Node that cannot be deleted delays that only until the timeout. */
export const finishDeletion = async (
  { client, log }: Context,
  { machine, now }: Snapshot,
  node: string | undefined,
  options: ReconcileOptions,
): Promise<void> => {
  if (node !== undefined)
    try {
      await ignoreNotFound(client.delete(nodes, { name: node }, options));
    } catch (error) {
      const seconds = machine.spec?.deletion?.nodeDeletionTimeoutSeconds ?? defaultNodeDeletionTimeoutSeconds;
      const { deletionTimestamp = '' } = machine.metadata;
      if (seconds === 0 || now < Date.parse(deletionTimestamp) + seconds * 1000) throw error;
      log.warn('Node not deleted in time; removing the Machine without it', { node, error });
    }
  await ignoreNotFound(
    patchIfChanged(
      client,
      machines,
      machine,
      { metadata: { finalizers: withoutFinalizer(machine, finalizers.machine) } },
      options,
    ),
  );
};
