import { getControllerOf, isKubeError, type Live, type ObjectMeta } from '@tartan/kube';
import type { Context, ReconcileOptions } from '../context.ts';
import { type ExternalObject, templateOf } from '../external/contract.ts';
import { type Machine, machines, type MachineSet, machineSets, type Reference } from '../kinds.ts';
import {
  annotations,
  coreApiVersion,
  defaultNodeDeletionTimeoutSeconds,
  finalizers,
  labels,
  nameWithSuffix,
  randomSuffix,
} from '../names.ts';
import { controllerReference, hasOwnerOfKind, ownerReference, withOwner } from '../owner-references.ts';
import { ignoreNotFound, patchIfChanged, withFinalizer, withoutFinalizer } from '../writes.ts';
import type { Decision, Snapshot } from './scaling.ts';

/** Labels and annotations that a Machine gets from its MachineSet; all of them follow changes of the template. */
const machineLabelsAndAnnotations = ({
  metadata,
  spec,
}: Live<MachineSet>): { labels: Record<string, string>; annotations: Record<string, string> } => {
  const deployment = metadata.labels?.[labels.deploymentName];
  return {
    labels: {
      ...spec?.template?.metadata?.labels,
      [labels.clusterName]: spec?.clusterName ?? '',
      [labels.setName]: metadata.name,
      ...(deployment !== undefined && { [labels.deploymentName]: deployment }),
    },
    annotations: { ...spec?.template?.metadata?.annotations },
  };
};

const desiredMachine = (machineSet: Live<MachineSet>, name: string, infrastructureRef: Reference): Machine => {
  const { namespace } = machineSet.metadata;
  return {
    apiVersion: coreApiVersion,
    kind: 'Machine',
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...machineLabelsAndAnnotations(machineSet),
      ownerReferences: [controllerReference('MachineSet', machineSet)],
      finalizers: [finalizers.machine],
    },
    spec: {
      ...machineSet.spec?.template?.spec,
      clusterName: machineSet.spec?.clusterName ?? '',
      infrastructureRef,
    },
  };
};

/**
 * The infrastructure object of a Machine of that name. The MachineSet owns it until the Machine exists, so that it is found after a crash
 * in between.
 */
const cloneTemplate = (
  template: Live<ExternalObject>,
  ref: Reference,
  machineSet: Live<MachineSet>,
  name: string,
): ExternalObject => {
  const { metadata, ...rest } = templateOf(template);
  const { namespace } = machineSet.metadata;
  const marks = machineLabelsAndAnnotations(machineSet);
  const meta: ObjectMeta = {
    name,
    ...(namespace !== undefined && { namespace }),
    labels: { ...metadata?.labels, ...marks.labels },
    annotations: {
      ...metadata?.annotations,
      ...marks.annotations,
      [annotations.clonedFromName]: ref.name,
      [annotations.clonedFromGroupKind]: `${ref.kind}.${ref.apiGroup}`,
    },
    ownerReferences: [ownerReference('MachineSet', machineSet)],
  };
  return {
    apiVersion: template.apiVersion ?? '',
    ...rest,
    kind: (template.kind ?? ref.kind).replace(/Template$/, ''),
    metadata: meta,
  };
};

/** Writes the finalizer, labels and selector, and the Cluster as owner if no MachineDeployment owns it. */
export const ensureMachineSetMetadata = async (
  { client }: Context,
  { machineSet, cluster }: Snapshot,
  options: ReconcileOptions,
): Promise<Live<MachineSet>> => {
  if (machineSet.metadata.deletionTimestamp !== undefined) return machineSet;
  const mark = { [labels.clusterName]: machineSet.spec?.clusterName ?? '' };
  const isAlone = !hasOwnerOfKind(machineSet, 'MachineDeployment', 'Cluster');
  const metadata = {
    finalizers: withFinalizer(machineSet, finalizers.machineSet),
    labels: mark,
    ...(isAlone && { ownerReferences: withOwner(machineSet, ownerReference('Cluster', cluster)) }),
  };
  const spec = { selector: { matchLabels: mark }, template: { metadata: { labels: mark } } };
  return patchIfChanged(client, machineSets, machineSet, { metadata, spec }, options);
};

/** Makes the Cluster own the template from which Machines are cloned. */
export const ownTemplate = async (
  { client }: Context,
  { template, cluster }: Pick<Snapshot, 'template' | 'cluster'>,
  options: ReconcileOptions,
): Promise<void> => {
  const { kind, object } = template ?? {};
  if (!kind || !object || object.metadata.deletionTimestamp !== undefined) return;
  const ownerReferences = withOwner(object, ownerReference('Cluster', cluster));
  await patchIfChanged(client, kind.resource, object, { metadata: { ownerReferences } }, options);
};

/** Updates fields that can change on existing Machines. On a Machine that is being deleted, only its deletion timeouts. */
export const syncMachines = async (
  { client, externals }: Context,
  { machineSet, machines: all }: Snapshot,
  options: ReconcileOptions,
): Promise<void> => {
  const { deletion, minReadySeconds, readinessGates } = machineSet.spec?.template?.spec ?? {};
  const marks = machineLabelsAndAnnotations(machineSet);
  const times = {
    nodeDrainTimeoutSeconds: deletion?.nodeDrainTimeoutSeconds ?? null,
    nodeVolumeDetachTimeoutSeconds: deletion?.nodeVolumeDetachTimeoutSeconds ?? null,
    nodeDeletionTimeoutSeconds: deletion?.nodeDeletionTimeoutSeconds ?? defaultNodeDeletionTimeoutSeconds,
  };
  for (const machine of all) {
    const leaves = machine.metadata.deletionTimestamp !== undefined;
    const owner = controllerReference('MachineSet', machineSet);
    await patchIfChanged(
      client,
      machines,
      machine,
      leaves
        ? { spec: { deletion: times } }
        : {
            metadata: { ...marks, ...(!getControllerOf(machine) && { ownerReferences: withOwner(machine, owner) }) },
            spec: {
              deletion: times,
              ...(minReadySeconds !== undefined && { minReadySeconds }),
              ...(readinessGates && { readinessGates }),
            },
          },
      options,
    );
    const ref = machine.spec?.infrastructureRef;
    const kind = leaves || !ref ? undefined : await externals.findKind(ref, options);
    if (!kind || !ref) continue;
    const object = (await externals.cached(kind, options)).get(`${machine.metadata.namespace}/${ref.name}`);
    if (object && object.metadata.deletionTimestamp === undefined)
      await patchIfChanged(client, kind.resource, object, { metadata: marks }, options);
  }
};

/** Clones without a Machine: the controller crashed in between. */
export const deleteOrphans = async (
  { client, externals }: Context,
  { machineSet, machines: all, template }: Snapshot,
  options: ReconcileOptions,
): Promise<void> => {
  if (!template?.kind) return;
  const { apiGroup, kind } = template.ref;
  const cloned = await externals.findKind({ apiGroup, kind: kind.replace(/Template$/, '') }, options);
  if (!cloned) return;
  const { namespace = '', name, uid } = machineSet.metadata;
  const known = new Set(all.map(({ metadata }) => metadata.name));
  for (const { metadata } of (await externals.cached(cloned, options)).list()) {
    if (metadata.namespace !== namespace || metadata.labels?.[labels.setName] !== name) continue;
    const isCloned = annotations.clonedFromName in (metadata.annotations ?? {});
    const owners = metadata.ownerReferences ?? [];
    if (!isCloned || known.has(metadata.name) || owners.some((owner) => owner.uid !== uid) || owners.length === 0)
      continue;
    if (metadata.deletionTimestamp !== undefined) continue;
    const preconditions = { uid: metadata.uid };
    await ignoreNotFound(
      client.delete(cloned.resource, { namespace, name: metadata.name }, { ...options, preconditions }),
    );
  }
};

const createMachine = async (context: Context, snapshot: Snapshot, options: ReconcileOptions): Promise<void> => {
  const { client, externals, random, log } = context;
  const { machineSet, template } = snapshot;
  const { namespace = '' } = machineSet.metadata;
  if (!template?.object) return;
  const name = nameWithSuffix(machineSet.metadata.name, randomSuffix(random));
  const infrastructure = cloneTemplate(template.object, template.ref, machineSet, name);
  const ref: Reference = { apiGroup: template.ref.apiGroup, kind: infrastructure.kind ?? '', name };
  const kind = await externals.findKind(ref, options);
  if (!kind) throw new Error(`${ref.kind}.${ref.apiGroup} is not installed, or keeps no contract of Cluster API`);
  await client.create(kind.resource, infrastructure, options);
  try {
    await client.create(machines, desiredMachine(machineSet, name, ref), options);
  } catch (error) {
    await ignoreNotFound(client.delete(kind.resource, { namespace, name }, options));
    throw error;
  }
  log.info('Created Machine', { machine: name, machineSet: machineSet.metadata.name });
};

const deleteMachine = async ({ client }: Context, machine: Live<Machine>, options: ReconcileOptions): Promise<void> => {
  const { namespace = '', name, uid } = machine.metadata;
  try {
    await ignoreNotFound(client.delete(machines, { namespace, name }, { ...options, preconditions: { uid } }));
  } catch (error) {
    // Another object of that name, not the intended one.
    if (!isKubeError(error, 'conflict')) throw error;
  }
};

export const act = async (
  context: Context,
  snapshot: Snapshot,
  decision: Decision,
  options: ReconcileOptions,
): Promise<void> => {
  const { client } = context;
  const { machineSet } = snapshot;
  switch (decision.kind) {
    case 'none':
      return;
    case 'create':
      for (let made = 0; made < decision.count; made += 1) await createMachine(context, snapshot, options);
      return;
    case 'delete':
      for (const machine of snapshot.machines)
        if (decision.machines.includes(machine.metadata.name)) await deleteMachine(context, machine, options);
      return;
    case 'finish': {
      const metadata = { finalizers: withoutFinalizer(machineSet, finalizers.machineSet) };
      await ignoreNotFound(patchIfChanged(client, machineSets, machineSet, { metadata }, options));
    }
  }
};
