import { controllerManager } from '../authentication/user.ts';
import { copy, type KubeObject, type OwnerReference } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import {
  decideCollection,
  dependencyGraph,
  foregroundFinalizer,
  isDeletingDependents,
  isOrphaningDependents,
  type Item,
  itemOf,
  orphanFinalizer,
  type OwnerState,
} from './dependency-graph.ts';
import { eventRecorder } from './runtime/event-recorder.ts';
import { watchAll } from './runtime/watch.ts';
import { type Controller, type OnError, workQueue } from './runtime/workqueue.ts';

/** When to retry an owner reference to a kind that is not served. */
const recheckMs = 30_000;

/** Events neither own objects nor have owners, and there are many. */
const isCollectable = ({ group, plural, verbs }: Resource): boolean =>
  ['delete', 'list', 'watch'].every((verb) => verbs.includes(verb)) &&
  !(plural === 'events' && (group === '' || group === 'events.k8s.io'));

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '');

/** Reads the owner and compares its UID. The graph may be stale. */
const stateOf = (api: LoopbackClient, item: Item, reference: OwnerReference): OwnerState => {
  const resource = api.findKind(groupOf(reference.apiVersion), reference.kind);
  if (!resource) return 'unknown';
  if (resource.namespaced && item.namespace === '') return 'misplaced';
  const owner = api.get(resource, resource.namespaced ? item.namespace : '', reference.name);
  if (owner?.metadata.uid !== reference.uid) return 'dangling';
  return isDeletingDependents(owner) ? 'waiting' : 'solid';
};

const withoutFinalizer = (object: KubeObject, finalizer: string): KubeObject => {
  const changed = copy(object);
  changed.metadata.finalizers = (changed.metadata.finalizers ?? []).filter((entry) => entry !== finalizer);
  return changed;
};

const withOwners = (object: KubeObject, change: (owners: OwnerReference[]) => OwnerReference[]): KubeObject => {
  const changed = copy(object);
  const owners = change(changed.metadata.ownerReferences ?? []);
  if (owners.length > 0) changed.metadata.ownerReferences = owners;
  else delete changed.metadata.ownerReferences;
  return changed;
};

const blocks = (dependent: Item, owner: string): boolean =>
  dependent.owners.some(({ uid, blockOwnerDeletion }) => uid === owner && blockOwnerDeletion === true);

/** Deletes objects without live owners, and carries out foreground and orphaning deletions. */
export const garbageCollector = (onError: OnError): Controller => ({
  name: 'garbage-collector',
  start: (api) => {
    const graph = dependencyGraph();
    const recorder = eventRecorder(api, 'garbage-collector-controller');

    const live = (item: Item): KubeObject | undefined => {
      const object = api.get(item.resource, item.namespace, item.name);
      return object?.metadata.uid === item.uid ? object : undefined;
    };
    const write = (item: Item, object: KubeObject): KubeObject =>
      api.update(item.resource, item.namespace, object, controllerManager);

    const orphan = (item: Item, object: KubeObject): void => {
      for (const dependent of graph.dependentsOf(item.uid)) {
        const current = live(dependent);
        if (current) {
          write(
            dependent,
            withOwners(current, (owners) => owners.filter(({ uid }) => uid !== item.uid)),
          );
        }
      }
      write(item, withoutFinalizer(object, orphanFinalizer));
    };

    const deleteDependents = (item: Item, object: KubeObject): void => {
      const dependents = graph.dependentsOf(item.uid);
      for (const dependent of dependents) if (!dependent.deletingDependents) queue.add(dependent.uid);
      if (!dependents.some((dependent) => blocks(dependent, item.uid))) {
        write(item, withoutFinalizer(object, foregroundFinalizer));
      }
    };

    /** An owner that exists, but in another namespace, is most likely a mistake. */
    const warnOfCrossNamespaceOwners = (item: Item, object: KubeObject, owners: readonly OwnerReference[]): void => {
      const { apiVersion, kind } = object;
      const { uid, name, namespace } = item;
      const regarding = { apiVersion, kind, name, uid, ...(namespace === '' ? {} : { namespace }) };
      for (const owner of owners) {
        const stranger = graph.get(owner.uid);
        if (!stranger?.resource.namespaced || stranger.namespace === namespace) continue;
        const identity = `[${owner.apiVersion}/${owner.kind}, namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}]`;
        recorder.record({
          regarding,
          type: 'Warning',
          reason: 'OwnerRefInvalidNamespace',
          message: `ownerRef ${identity} does not exist in namespace "${namespace}"`,
        });
      }
    };

    const collect = (item: Item, object: KubeObject): void => {
      const owners = object.metadata.ownerReferences ?? [];
      warnOfCrossNamespaceOwners(item, object, owners);
      const verdict = decideCollection({
        owners: owners.map((reference) => ({ uid: reference.uid, state: stateOf(api, item, reference) })),
        finalizers: object.metadata.finalizers ?? [],
        dependents: graph.dependentsOf(item.uid),
      });
      switch (verdict.kind) {
        case 'keep':
          return;
        case 'postpone':
          queue.addAfter(item.uid, recheckMs);
          return;
        case 'strip':
          write(
            item,
            withOwners(object, (all) => all.filter(({ uid }) => !verdict.uids.includes(uid))),
          );
          return;
        case 'delete':
          if (verdict.unblock) {
            write(
              item,
              withOwners(object, (all) => all.map((owner) => ({ ...owner, blockOwnerDeletion: false }))),
            );
          }
          api.delete(item.resource, item.namespace, item.name, controllerManager, {
            preconditions: { uid: item.uid },
            propagationPolicy: verdict.policy,
          });
      }
    };

    const queue = workQueue({
      clock: api.clock,
      onError,
      reconcile: (uid) => {
        const item = graph.get(uid);
        const object = item && live(item);
        if (!object) return;
        if (isOrphaningDependents(object)) orphan(item, object);
        else if (isDeletingDependents(object)) deleteDependents(item, object);
        // An object that is being deleted is left alone; its dependents are processed once it is gone.
        else if (object.metadata.deletionTimestamp === undefined) collect(item, object);
      },
    });

    const wakeWaitingOwners = (owners: readonly OwnerReference[]): void => {
      for (const { uid } of owners) if (graph.get(uid)?.deletingDependents) queue.add(uid);
    };

    const stop = watchAll(api, isCollectable, (resource, current, previous) => {
      if (current) {
        const item = itemOf(resource, current);
        graph.put(item);
        if (item.owners.length > 0 || current.metadata.deletionTimestamp !== undefined) queue.add(item.uid);
      } else if (previous) {
        graph.remove(previous.metadata.uid);
        for (const dependent of graph.dependentsOf(previous.metadata.uid)) queue.add(dependent.uid);
      }
      wakeWaitingOwners(previous?.metadata.ownerReferences ?? []);
    });
    return () => {
      stop();
      queue.stop();
    };
  },
});
