import { copy, equal } from '../../object.ts';
import { type Deployment, hashLabel, type PodTemplate, type ReplicaSet } from './objects.ts';
import type { RolloutLimits } from './rollout.ts';

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** FNV-1a over 32 bits. */
const fnv = (text: string): number => {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
};

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, sorted(field)]),
  );
};

const withoutHash = (template: PodTemplate): PodTemplate => {
  const plain = copy(template);
  delete plain.metadata?.labels?.[hashLabel];
  return plain;
};

/** Equal except for the label pod-template-hash. */
export const sameTemplate = (a: PodTemplate, b: PodTemplate): boolean => equal(withoutHash(a), withoutHash(b));

/**
 * The pod-template-hash, without characters that could form words. The real controller hashes Go's print of the template, so its hashes
 * differ; no client may rely on them. `collisions` changes the hash when a name is taken.
 */
export const templateHash = (template: PodTemplate, collisions = 0): string =>
  String(fnv(JSON.stringify(sorted(withoutHash(template))) + (collisions > 0 ? `#${collisions}` : ''))).replaceAll(
    /\d/g,
    (digit) => alphabet[digit.charCodeAt(0) % alphabet.length] ?? '',
  );

/** The annotations that record which revision of the Deployment a ReplicaSet was. */

const prefix = 'deployment.kubernetes.io/';
export const revisionAnnotation = `${prefix}revision`;
const historyAnnotation = `${prefix}revision-history`;
const desiredAnnotation = `${prefix}desired-replicas`;
const maxAnnotation = `${prefix}max-replicas`;

const own = [revisionAnnotation, historyAnnotation, desiredAnnotation, maxAnnotation];
const notCopied = [...own, 'kubectl.kubernetes.io/last-applied-configuration', 'deprecated.deployment.rollback.to'];

type Annotations = Record<string, string>;

const revisionOf = ({ metadata }: Pick<ReplicaSet, 'metadata'>): number =>
  Number(metadata.annotations?.[revisionAnnotation] ?? 0) || 0;

const numberIn = (annotations: Annotations | undefined, name: string): number | undefined =>
  annotations?.[name] === undefined ? undefined : Number(annotations[name]);

export const countsOf = ({ metadata }: ReplicaSet): { desired: number | undefined; max: number | undefined } => ({
  desired: numberIn(metadata.annotations, desiredAnnotation),
  max: numberIn(metadata.annotations, maxAnnotation),
});

export const withCounts = (
  annotations: Annotations | undefined,
  replicas: number,
  { maxSurge }: RolloutLimits,
): Annotations => ({
  ...annotations,
  [desiredAnnotation]: String(replicas),
  [maxAnnotation]: String(replicas + maxSurge),
});

/** Higher than all others. */
export const nextRevision = (others: readonly ReplicaSet[]): number => Math.max(0, ...others.map(revisionOf)) + 1;

/**
 * The annotations of the current ReplicaSet: those of the Deployment, and the revision. A ReplicaSet that is used again, as after an undo,
 * becomes the newest revision and records its former ones.
 */
export const currentAnnotations = (
  deployment: Deployment,
  current: ReplicaSet | undefined,
  revision: number,
): Annotations => {
  const annotations: Annotations = { ...current?.metadata.annotations };
  for (const [name, value] of Object.entries(deployment.metadata.annotations ?? {}))
    if (!notCopied.includes(name)) annotations[name] = value;
  const before = current ? revisionOf(current) : 0;
  if (before >= revision) return annotations;
  annotations[revisionAnnotation] = String(revision);
  if (before > 0)
    annotations[historyAnnotation] = [...(annotations[historyAnnotation]?.split(',') ?? []), before].join(',');
  return annotations;
};

/** Old ReplicaSets beyond the history limit, oldest revision first: only those without Pods whose status is up to date. */
export const revisionsToDelete = (old: readonly ReplicaSet[], limit: number): ReplicaSet[] => {
  const kept = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return kept
    .toSorted((a, b) => revisionOf(a) - revisionOf(b))
    .slice(0, Math.max(0, kept.length - limit))
    .filter(
      ({ spec, status, metadata }) =>
        spec.replicas === 0 && status.replicas === 0 && (status.observedGeneration ?? 0) >= (metadata.generation ?? 0),
    );
};
