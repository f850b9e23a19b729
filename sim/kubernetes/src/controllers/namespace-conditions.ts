import { timestamp } from '@tartan/kube/clock';
import type { Condition } from './shapes.ts';

/** What one pass over the content of a namespace found. */
export interface Content {
  /** `pods.` or `machines.cluster.x-k8s.io`, and how many are left. */
  remaining: ReadonlyMap<string, number>;
  finalizers: ReadonlyMap<string, number>;
  failures: readonly string[];
}

type Said = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

const fine: readonly (readonly [type: string, reason: string, message: string])[] = [
  ['NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered'],
  ['NamespaceDeletionGroupVersionParsingFailure', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'],
  [
    'NamespaceDeletionContentFailure',
    'ContentDeleted',
    'All content successfully deleted, may be waiting on finalization',
  ],
  ['NamespaceContentRemaining', 'ContentRemoved', 'All content successfully removed'],
  ['NamespaceFinalizersRemaining', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
];

const listed = (counts: ReadonlyMap<string, number>, text: (name: string, count: number) => string): string =>
  [...counts]
    .map(([name, count]) => text(name, count))
    .sort()
    .join(', ');

const troubles = ({ remaining, finalizers, failures }: Content): Said[] => {
  const found: Said[] = [];
  const trouble = (type: string, reason: string, message: string): void => {
    found.push({ type, status: 'True', reason, message });
  };
  if (failures.length > 0) {
    trouble(
      'NamespaceDeletionContentFailure',
      'ContentDeletionFailed',
      `Failed to delete all resource types, ${failures.length} remaining: ${[...failures].sort().join(', ')}`,
    );
  }
  if (remaining.size > 0) {
    const list = listed(remaining, (name, count) => `${name} has ${count} resource instances`);
    trouble('NamespaceContentRemaining', 'SomeResourcesRemain', `Some resources are remaining: ${list}`);
  }
  if (finalizers.size > 0) {
    const list = listed(finalizers, (name, count) => `${name} in ${count} resource instances`);
    trouble(
      'NamespaceFinalizersRemaining',
      'SomeFinalizersRemain',
      `Some content in the namespace has finalizers remaining: ${list}`,
    );
  }
  return found;
};

/** The conditions of a terminating namespace after a pass, or undefined when they say nothing new. */
export const namespaceConditions = (
  old: readonly Condition[],
  content: Content,
  now: number,
): Condition[] | undefined => {
  const found = new Map(troubles(content).map((said) => [said.type, said]));
  const next = [...old];
  let changed = false;
  for (const [type, reason, message] of fine) {
    const said = found.get(type) ?? { type, status: 'False', reason, message };
    const index = next.findIndex((condition) => condition.type === type);
    const before = next[index];
    if (before?.status === said.status && before.reason === said.reason && before.message === said.message) continue;
    changed = true;
    const lastTransitionTime = before?.status === said.status ? (before.lastTransitionTime ?? null) : timestamp(now);
    next.splice(index < 0 ? next.length : index, index < 0 ? 0 : 1, { ...said, lastTransitionTime });
  }
  return changed ? next : undefined;
};
