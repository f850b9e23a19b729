import type { Api } from '../api/api.ts';
import { controllerManager } from '../auth/user.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { Controller } from './controller.ts';
import { keyQueue, type OnError } from './key-queue.ts';
import { watch } from './watch.ts';

export interface Standing {
  name: string;
  plural: string;
  object: string;
  /** What should stand there instead of `current`; undefined when all is well. */
  wanted: (current: KubeObject | undefined) => KubeObject | undefined;
}

const isActive = (api: Api, namespaces: Resource, name: string): boolean => {
  const namespace = api.get(namespaces, '', name);
  return namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;
};

/** Keeps one object of a core kind in every active namespace. */
export const inEveryNamespace = ({ name, plural, object, wanted }: Standing, onError: OnError): Controller => ({
  name,
  start: (api) => {
    const namespaces = api.find('', 'namespaces');
    const resource = api.find('', plural);
    if (!namespaces || !resource) return () => {};

    const reconcile = (namespace: string): void => {
      if (!isActive(api, namespaces, namespace)) return;
      const current = api.get(resource, namespace, object);
      const next = wanted(current);
      if (!next) return;
      if (current) api.update(resource, namespace, next, controllerManager);
      else api.create(resource, namespace, next, controllerManager);
    };

    const queue = keyQueue({ clock: api.clock, reconcile, onError });
    const stopNamespaces = watch(api, '', 'namespaces', (current) => current && queue.add(current.metadata.name));
    const stopObjects = watch(api, '', plural, (current, previous) => {
      const { namespace, name } = (current ?? previous)?.metadata ?? {};
      if (name === object && namespace) queue.add(namespace);
    });
    return () => {
      stopNamespaces();
      stopObjects();
      queue.stop();
    };
  },
});
