import type { Live, ObjectMeta } from '@tartan/kube';
import { type ExternalObject, templateOf } from '../contract/external-object.ts';
import type { Machine, MachineSet, Reference } from '../kinds.ts';
import { annotations, coreApiVersion, finalizers, labels } from '../names.ts';
import { controllingOwner, plainOwner } from '../writing/owners.ts';

/** What a Machine bears of the MachineSet that made it; all of it follows when the template changes. */
export const machineMarks = ({
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

export const makeMachine = (machineSet: Live<MachineSet>, name: string, infrastructureRef: Reference): Machine => {
  const { namespace } = machineSet.metadata;
  return {
    apiVersion: coreApiVersion,
    kind: 'Machine',
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...machineMarks(machineSet),
      ownerReferences: [controllingOwner('MachineSet', machineSet)],
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
 * The infrastructure of a Machine of that name. Its owner is the MachineSet for as long as there is no Machine: whoever dies in
 * between leaves something that can be found.
 */
export const cloneTemplate = (
  template: Live<ExternalObject>,
  ref: Reference,
  machineSet: Live<MachineSet>,
  name: string,
): ExternalObject => {
  const { metadata, ...rest } = templateOf(template);
  const { namespace } = machineSet.metadata;
  const marks = machineMarks(machineSet);
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
    ownerReferences: [plainOwner('MachineSet', machineSet)],
  };
  return {
    apiVersion: template.apiVersion ?? '',
    ...rest,
    kind: (template.kind ?? ref.kind).replace(/Template$/, ''),
    metadata: meta,
  };
};
