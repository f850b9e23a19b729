import type { Api } from '../api/api.ts';
import { controllerManager } from '../auth/user.ts';
import { copy } from '../object.ts';
import type { Controller } from './controller.ts';
import { draft } from './draft.ts';
import { keyQueue, type OnError } from './key-queue.ts';
import { namespaceConditions } from './namespace-conditions.ts';
import { emptyNamespace } from './namespace-content.ts';
import type { Namespace } from './shapes.ts';
import { watch, watchAll } from './watch.ts';

const initial = ['kube-system', 'kube-public', 'kube-node-lease', 'default'];

const createInitial = (api: Api): void => {
  const namespaces = api.find('', 'namespaces');
  if (!namespaces) return;
  for (const name of initial) {
    if (api.get(namespaces, '', name)) continue;
    api.create(namespaces, '', draft('v1', 'Namespace', { name }), controllerManager);
  }
};

class ContentRemains extends Error {}

/** Empties namespaces that are being deleted and lets them go, and sees to it that a fresh cluster has its first four. */
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
      const pass = emptyNamespace(api, name, (api.clock.now() - Date.parse(deletedAt)) / 1000);
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

    const queue = keyQueue({
      clock: api.clock,
      reconcile,
      // Why content stays is on the namespace's conditions, for everybody to read.
      onError: (error, key) => (error instanceof ContentRemains ? undefined : onError(error, key)),
    });
    const stopNamespaces = watch(api, '', 'namespaces', (current) => {
      if (current?.metadata.deletionTimestamp !== undefined) queue.add(current.metadata.name);
    });
    // Not to wait out the estimate when the last thing has gone before.
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
