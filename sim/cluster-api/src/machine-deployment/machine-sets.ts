import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Live } from '@tartan/kube';
import type { MachineDeployment, MachineSet, MachineTemplate } from '../kinds.ts';
import { annotations, coreApiVersion, finalizers, labels, nameWithSuffix } from '../names.ts';
import { controllerReference } from '../owner-references.ts';
import { rolloutLimits } from './rollout.ts';

const withoutTemplateSuffix = (kind: string | undefined): string => (kind ?? '').replace(/Template$/, '');

/**
 * The differences between two templates that require new Machines, as text; empty if there are none. All other fields are changed on
 * existing Machines.
 */
export const templateDifferences = (
  current: MachineTemplate | undefined,
  desired: MachineTemplate | undefined,
): string[] => {
  const [now, then] = [current?.spec ?? {}, desired?.spec ?? {}];
  const found: string[] = [];
  if (now.version !== then.version) found.push(`Version ${now.version ?? ''}, ${then.version ?? ''} required`);
  if (!isDeepStrictEqual(now.bootstrap, then.bootstrap))
    found.push(
      `spec.bootstrap.dataSecretName ${now.bootstrap?.dataSecretName ?? 'nil'}, ${then.bootstrap?.dataSecretName ?? 'nil'} required`,
    );
  if (!isDeepStrictEqual(now.infrastructureRef, then.infrastructureRef))
    found.push(`${withoutTemplateSuffix(now.infrastructureRef?.kind)} is not up-to-date`);
  if (now.failureDomain !== then.failureDomain)
    found.push(`Failure domain ${now.failureDomain ?? ''}, ${then.failureDomain ?? ''} required`);
  return found;
};

/** The MachineSet of the current template, and all others. */
export interface MachineSets {
  readonly current: Live<MachineSet> | undefined;
  /** The oldest first. */
  readonly old: readonly Live<MachineSet>[];
}

const byAge = (a: Live<MachineSet>, b: Live<MachineSet>): number =>
  a.metadata.creationTimestamp === b.metadata.creationTimestamp
    ? a.metadata.name < b.metadata.name
      ? -1
      : 1
    : a.metadata.creationTimestamp < b.metadata.creationTimestamp
      ? -1
      : 1;

/** If several match, the one with the most Machines: the fewest have to be replaced. */
export const findMachineSets = (
  { spec }: MachineDeployment,
  sets: readonly Live<MachineSet>[],
  now: number,
): MachineSets => {
  const after = spec?.rollout?.after === undefined ? Number.NaN : Date.parse(spec.rollout.after);
  // `rollout.after` makes all older sets old.
  const isRecent = ({ metadata }: Live<MachineSet>): boolean =>
    !(after <= now) || Date.parse(metadata.creationTimestamp) >= after;
  const current = sets
    .filter((set) => templateDifferences(set.spec?.template, spec?.template).length === 0 && isRecent(set))
    .toSorted((a, b) => (b.spec?.replicas ?? 0) - (a.spec?.replicas ?? 0) || byAge(a, b))[0];
  return { current, old: sets.filter((set) => set !== current).toSorted(byAge) };
};

/** A number, as in core, over the fields that require new Machines. */
const templateHash = ({ spec = {} }: MachineTemplate): number => {
  const { version, bootstrap, infrastructureRef, failureDomain } = spec;
  const text = JSON.stringify({ version, bootstrap, infrastructureRef, failureDomain });
  return createHash('sha256').update(text).digest().readUInt32BE(0);
};

export const revisionOf = ({ metadata }: { metadata?: { annotations?: Record<string, string> } }): number =>
  Number(metadata?.annotations?.[annotations.revision] ?? 0) || 0;

/** One more than all others; a set that becomes current again gets a new one. */
export const nextRevision = (current: MachineSet | undefined, old: readonly MachineSet[]): number =>
  Math.max(current ? revisionOf(current) : 0, ...old.map((set) => revisionOf(set) + 1), 1);

interface LabelsAndAnnotations {
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
}

const labelsAndAnnotations = (
  deployment: Live<MachineDeployment>,
  unique: string,
  more: Record<string, string>,
): LabelsAndAnnotations => {
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
      [annotations.maxReplicas]: String(replicas + rolloutLimits(deployment).maxSurge),
      ...more,
    },
  };
};

/** A separate MachineSet for each template, with a unique label on it, in its selector, and on its Machines. */
export const desiredMachineSet = (
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
      ...labelsAndAnnotations(deployment, unique, {
        [annotations.revision]: String(revision),
        [annotations.disableMachineCreate]: 'false',
      }),
      ownerReferences: [controllerReference('MachineDeployment', deployment)],
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

/** The fields of an existing MachineSet that follow the MachineDeployment: all except those that require new Machines. */
export const machineSetPatch = (
  deployment: Live<MachineDeployment>,
  set: Live<MachineSet>,
  { replicas, revision, isOld }: { replicas: number; revision: number; isOld: boolean },
): { metadata: object; spec: object } => {
  const { spec } = deployment;
  const unique = set.metadata.labels?.[labels.templateHash] ?? '';
  const { deletion, minReadySeconds, readinessGates } = spec?.template?.spec ?? {};
  const onDelete = spec?.rollout?.strategy?.type === 'OnDelete';
  return {
    metadata: labelsAndAnnotations(deployment, unique, {
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
