import { timestamp } from '@tartan/kube/clock';
import { controllerManager } from '../authentication/user.ts';
import { copy } from '../object.ts';
import { cleanupFinalizer } from '../registry/apiextensions/customresourcedefinitions.ts';
import { type Condition, type Definition, definitionOf, withCondition } from '../registry/apiextensions/definition.ts';
import type { Resource } from '../resource.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import { watch } from './runtime/watch.ts';
import { type Controller, type OnError, workQueue } from './runtime/workqueue.ts';

/** Objects with finalizers wait for other controllers. The real server polls too. */
const recheckMs = 1_000;

const terminating = (api: LoopbackClient, status: 'True' | 'False', reason: string, message: string): Condition => ({
  type: 'Terminating',
  status,
  lastTransitionTime: timestamp(api.clock.now()),
  reason,
  message,
});

/** Deletes the custom resources of a definition, and returns how many are left. */
const deleteAll = (api: LoopbackClient, resource: Resource): number => {
  for (const { metadata } of api.list(resource, '')) {
    if (metadata.deletionTimestamp === undefined)
      api.delete(resource, metadata.namespace ?? '', metadata.name, controllerManager);
  }
  return api.list(resource, '').length;
};

const withoutFinalizer = (api: LoopbackClient, definition: Definition): Definition => {
  const next = copy(definition);
  next.metadata.finalizers = (next.metadata.finalizers ?? []).filter((name) => name !== cleanupFinalizer);
  const done = terminating(api, 'False', 'InstanceDeletionCompleted', 'removed all instances');
  next.status = { ...next.status, conditions: withCondition(next.status?.conditions ?? [], done) };
  return next;
};

/** Deletes the custom resources of a definition that is being deleted, then removes its finalizer. */
export const crdFinalizer = (onError: OnError): Controller => ({
  name: 'custom-resource-cleanup',
  start: (api) => {
    const definitions = api.find('apiextensions.k8s.io', 'customresourcedefinitions');
    if (!definitions) return () => {};

    const reconcile = (name: string): void => {
      const found = api.get(definitions, '', name);
      if (!found?.metadata.deletionTimestamp || !found.metadata.finalizers?.includes(cleanupFinalizer)) return;
      const definition = definitionOf(found);
      const resource = api.find(definition.spec.group, definition.spec.names.plural);
      if (resource && deleteAll(api, resource) > 0) queue.addAfter(name, recheckMs);
      else api.update(definitions, '', withoutFinalizer(api, definition), controllerManager);
    };

    const queue = workQueue({ clock: api.clock, reconcile, onError });
    const stop = watch(api, 'apiextensions.k8s.io', 'customresourcedefinitions', (current) => {
      if (current?.metadata.deletionTimestamp !== undefined) queue.add(current.metadata.name);
    });
    return () => {
      stop();
      queue.stop();
    };
  },
});
