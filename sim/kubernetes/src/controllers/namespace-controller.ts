import { timestamp } from '@tartan/kube/clock';
import { controllerManager } from '../authentication/user.ts';
import { ApiError } from '../errors/api-error.ts';
import { copy, type KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import { asPod, type Condition, isFinished, type Namespace, newObject } from './runtime/objects.ts';
import { watch, watchAll } from './runtime/watch.ts';
import { type Controller, type OnError, workQueue } from './runtime/workqueue.ts';

/** The result of one pass over the content of a namespace. */
interface NamespaceContent {
  /** `pods.` or `machines.cluster.x-k8s.io`, and how many are left. */
  remaining: ReadonlyMap<string, number>;
  finalizers: ReadonlyMap<string, number>;
  failures: readonly string[];
}

type ConditionContent = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

const healthyConditions: readonly (readonly [type: string, reason: string, message: string])[] = [
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

const failingConditions = ({ remaining, finalizers, failures }: NamespaceContent): ConditionContent[] => {
  const found: ConditionContent[] = [];
  const report = (type: string, reason: string, message: string): void => {
    found.push({ type, status: 'True', reason, message });
  };
  if (failures.length > 0) {
    report(
      'NamespaceDeletionContentFailure',
      'ContentDeletionFailed',
      `Failed to delete all resource types, ${failures.length} remaining: ${[...failures].sort().join(', ')}`,
    );
  }
  if (remaining.size > 0) {
    const list = listed(remaining, (name, count) => `${name} has ${count} resource instances`);
    report('NamespaceContentRemaining', 'SomeResourcesRemain', `Some resources are remaining: ${list}`);
  }
  if (finalizers.size > 0) {
    const list = listed(finalizers, (name, count) => `${name} in ${count} resource instances`);
    report(
      'NamespaceFinalizersRemaining',
      'SomeFinalizersRemain',
      `Some content in the namespace has finalizers remaining: ${list}`,
    );
  }
  return found;
};

/** The conditions of a terminating namespace after a pass; undefined when they are unchanged. */
export const namespaceConditions = (
  old: readonly Condition[],
  content: NamespaceContent,
  now: number,
): Condition[] | undefined => {
  const found = new Map(failingConditions(content).map((said) => [said.type, said]));
  const next = [...old];
  let changed = false;
  for (const [type, reason, message] of healthyConditions) {
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

/** How long to wait for finalizers before the next pass. */
const finalizerSeconds = 15;

interface ContentDeletion extends NamespaceContent {
  /** Seconds until the next pass is useful; 0 when nothing is left. */
  estimate: number;
}

/** The longest grace period of the running Pods, in seconds; 0 if the namespace has waited that long already. */
const podGracePeriod = (pods: readonly KubeObject[], waitedSeconds: number): number => {
  const graces = pods
    .map(asPod)
    .filter((pod) => !isFinished(pod))
    .map((pod) => pod.spec.terminationGracePeriodSeconds ?? 0);
  const longest = Math.max(0, ...graces);
  return waitedSeconds >= longest ? 0 : longest;
};

const deletable = ({ namespaced, verbs, review }: Resource): boolean =>
  namespaced && review === undefined && verbs.includes('delete') && verbs.includes('list');

/** One pass that deletes everything in a namespace: Pods first, and nothing else while there are any. */
const deleteNamespaceContent = (api: LoopbackClient, namespace: string, waitedSeconds: number): ContentDeletion => {
  const remaining = new Map<string, number>();
  const finalizers = new Map<string, number>();
  const failures: string[] = [];
  let estimate = 0;

  const remove = (resource: Resource): number => {
    const before = api.list(resource, namespace);
    const grace = resource.group === '' && resource.plural === 'pods' ? podGracePeriod(before, waitedSeconds) : 0;
    for (const { metadata } of before) {
      api.delete(resource, namespace, metadata.name, controllerManager, { propagationPolicy: 'Background' });
    }
    const left = api.list(resource, namespace);
    if (left.length === 0) return 0;
    const held = left.flatMap(({ metadata }) => metadata.finalizers ?? []);
    for (const finalizer of held) finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
    remaining.set(`${resource.plural}.${resource.group}`, left.length);
    estimate = Math.max(estimate, grace > 0 ? grace : held.length > 0 ? finalizerSeconds : 0);
    if (grace === 0 && held.length === 0) {
      const name = `${resource.group}/${resource.version}, Resource=${resource.plural}`;
      failures.push(`unexpected items still remain in namespace: ${namespace} for gvr: ${name}`);
    }
    return left.length;
  };

  const attempt = (resource: Resource): number => {
    try {
      return remove(resource);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      failures.push(error.message);
      return 0;
    }
  };

  const pods = api.find('', 'pods');
  if (pods && attempt(pods) > 0) {
    // As in the real controller: the rest is counted only once the Pods are gone.
    return { remaining: new Map(), finalizers: new Map(), failures, estimate };
  }
  for (const resource of api.resources()) {
    if (deletable(resource) && !(resource.group === '' && resource.plural === 'pods')) attempt(resource);
  }
  return { remaining, finalizers, failures, estimate };
};

const initial = ['kube-system', 'kube-public', 'kube-node-lease', 'default'];

const createInitial = (api: LoopbackClient): void => {
  const namespaces = api.find('', 'namespaces');
  if (!namespaces) return;
  for (const name of initial) {
    if (api.get(namespaces, '', name)) continue;
    api.create(namespaces, '', newObject('v1', 'Namespace', { name }), controllerManager);
  }
};

class ContentRemains extends Error {}

/** Empties and removes namespaces that are being deleted, and creates the four initial namespaces of a new cluster. */
export const namespaceController = (onError: OnError): Controller => ({
  name: 'namespaces',
  start: (api) => {
    createInitial(api);
    const namespaces = api.find('', 'namespaces');
    if (!namespaces) return () => {};

    const reconcile = (name: string): void => {
      const namespace: Namespace | undefined = api.get(namespaces, '', name);
      const deletedAt = namespace?.metadata.deletionTimestamp;
      if (!namespace || deletedAt === undefined || (namespace.spec?.finalizers ?? []).length === 0) return;
      const pass = deleteNamespaceContent(api, name, (api.clock.now() - Date.parse(deletedAt)) / 1000);
      const conditions = namespaceConditions(namespace.status?.conditions ?? [], pass, api.clock.now());
      if (conditions) {
        const changed = copy(namespace);
        changed.status = { ...changed.status, conditions };
        api.updateStatus(namespaces, '', changed, controllerManager);
      }
      if (pass.failures.length > 0) throw new ContentRemains(pass.failures.join(', '));
      if (pass.estimate > 0) queue.addAfter(name, (pass.estimate / 2 + 1) * 1000);
      else api.finalizeNamespace(name);
    };

    const queue = workQueue({
      clock: api.clock,
      reconcile,
      // The conditions of the namespace report what is left.
      onError: (error, key) => (error instanceof ContentRemains ? undefined : onError(error, key)),
    });
    const stopNamespaces = watch(api, '', 'namespaces', (current) => {
      if (current?.metadata.deletionTimestamp !== undefined) queue.add(current.metadata.name);
    });
    // Does not wait out the estimate when the last object is gone earlier.
    const stopContent = watchAll(
      api,
      (resource) => resource.namespaced && resource.verbs.includes('watch'),
      (_resource, current, previous) => {
        const name = current ? undefined : previous?.metadata.namespace;
        if (name !== undefined && api.get(namespaces, '', name)?.metadata.deletionTimestamp !== undefined) {
          queue.add(name);
        }
      },
    );
    return () => {
      stopNamespaces();
      stopContent();
      queue.stop();
    };
  },
});
