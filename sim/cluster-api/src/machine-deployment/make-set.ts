import { createHash } from 'node:crypto';
import type { Live } from '@tartan/kube';
import type { MachineDeployment, MachineSet, MachineTemplate } from '../kinds.ts';
import { annotations, coreApiVersion, finalizers, labels } from '../names.ts';
import { controllingOwner } from '../writing/owners.ts';
import { nameWithSuffix } from '../writing/random-name.ts';
import { limitsOf } from './scaled-value.ts';

/** A number, as core has it, of what asks for new Machines. */
const templateHash = ({ spec = {} }: MachineTemplate): number => {
  const { version, bootstrap, infrastructureRef, failureDomain } = spec;
  const text = JSON.stringify({ version, bootstrap, infrastructureRef, failureDomain });
  return createHash('sha256').update(text).digest().readUInt32BE(0);
};

export const revisionOf = ({ metadata }: { metadata?: { annotations?: Record<string, string> } }): number =>
  Number(metadata?.annotations?.[annotations.revision] ?? 0) || 0;

/** One more than that of all others; a set that becomes the current one again gets a new one. */
export const nextRevision = (current: MachineSet | undefined, old: readonly MachineSet[]): number =>
  Math.max(current ? revisionOf(current) : 0, ...old.map((set) => revisionOf(set) + 1), 1);

interface Marks {
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
}

const marksOf = (deployment: Live<MachineDeployment>, unique: string, more: Record<string, string>): Marks => {
  const { metadata, spec } = deployment;
  const { replicas = 1 } = spec ?? {};
  const own: readonly string[] = [annotations.lastApplied, annotations.revision];
  const copied = Object.entries(metadata.annotations ?? {}).filter(([key]) => !own.includes(key));
  return {
    labels: {
      ...spec?.template?.metadata?.labels,
      [labels.deploymentName]: metadata.name,
      [labels.templateHash]: unique,
    },
    annotations: {
      ...Object.fromEntries(copied),
      [annotations.desiredReplicas]: String(replicas),
      [annotations.maxReplicas]: String(replicas + limitsOf(deployment).maxSurge),
      ...more,
    },
  };
};

/** A MachineSet of its own for each template, told apart by a label on it, in its selector, and on its Machines. */
export const makeSet = (
  deployment: Live<MachineDeployment>,
  { suffix, replicas, revision }: { suffix: string; replicas: number; revision: number },
): MachineSet => {
  const { metadata, spec } = deployment;
  const unique = `${templateHash(spec?.template ?? {})}-${suffix}`;
  const mark = { [labels.templateHash]: unique };
  return {
    apiVersion: coreApiVersion,
    kind: 'MachineSet',
    metadata: {
      name: nameWithSuffix(metadata.name, suffix),
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      ...marksOf(deployment, unique, {
        [annotations.revision]: String(revision),
        [annotations.disableMachineCreate]: 'false',
      }),
      ownerReferences: [controllingOwner('MachineDeployment', deployment)],
      finalizers: [finalizers.machineSet],
    },
    spec: {
      clusterName: spec?.clusterName ?? '',
      replicas,
      selector: { ...spec?.selector, matchLabels: { ...spec?.selector?.matchLabels, ...mark } },
      template: {
        ...spec?.template,
        metadata: { ...spec?.template?.metadata, labels: { ...spec?.template?.metadata?.labels, ...mark } },
      },
      ...(spec?.deletion && { deletion: spec.deletion }),
    },
  };
};

/** What follows the MachineDeployment on a MachineSet that is there: all but what its Machines were made for. */
export const setPatch = (
  deployment: Live<MachineDeployment>,
  set: Live<MachineSet>,
  { replicas, revision, isOld }: { replicas: number; revision: number; isOld: boolean },
): { metadata: object; spec: object } => {
  const { spec } = deployment;
  const unique = set.metadata.labels?.[labels.templateHash] ?? '';
  const { deletion, minReadySeconds, readinessGates } = spec?.template?.spec ?? {};
  const onDelete = spec?.rollout?.strategy?.type === 'OnDelete';
  return {
    metadata: marksOf(deployment, unique, {
      [annotations.revision]: String(revision),
      [annotations.disableMachineCreate]: String(isOld && onDelete),
    }),
    spec: {
      replicas,
      template: {
        metadata: {
          labels: { ...spec?.template?.metadata?.labels, [labels.templateHash]: unique },
          ...(spec?.template?.metadata?.annotations && { annotations: spec.template.metadata.annotations }),
        },
        spec: {
          ...(deletion && { deletion }),
          ...(minReadySeconds !== undefined && { minReadySeconds }),
          ...(readinessGates && { readinessGates }),
        },
      },
      ...(spec?.deletion && { deletion: spec.deletion }),
    },
  };
};
