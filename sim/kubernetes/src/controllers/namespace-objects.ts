import { controllerManager } from '../authentication/user.ts';
import { copy, equal, type KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import { newObject } from './runtime/objects.ts';
import { watch } from './runtime/watch.ts';
import { type Controller, type OnError, workQueue } from './runtime/workqueue.ts';

interface NamespaceObject {
  name: string;
  plural: string;
  object: string;
  /** The replacement for `current`; undefined when it is correct. */
  wanted: (current: KubeObject | undefined) => KubeObject | undefined;
}

const isActive = (api: LoopbackClient, namespaces: Resource, name: string): boolean => {
  const namespace = api.get(namespaces, '', name);
  return namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;
};

/** Keeps one object of a core kind in every active namespace. */
const ensureInEveryNamespace = ({ name, plural, object, wanted }: NamespaceObject, onError: OnError): Controller => ({
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

    const queue = workQueue({ clock: api.clock, reconcile, onError });
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

/** The service account of Pods that name none. */
export const serviceAccounts = (onError: OnError): Controller =>
  ensureInEveryNamespace(
    {
      name: 'service-accounts',
      plural: 'serviceaccounts',
      object: 'default',
      wanted: (current) => (current ? undefined : newObject('v1', 'ServiceAccount', { name: 'default' })),
    },
    onError,
  );

const rootCaName = 'kube-root-ca.crt';
const rootCaAnnotation = 'kubernetes.io/description';
const rootCaDescription =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. ' +
  'No other usage is guaranteed across distributions of Kubernetes clusters.';

/** The ConfigMap to write instead of `current`; undefined when it is correct. */
const wantedRootCa = (caCertificate: string, current: KubeObject | undefined): KubeObject | undefined => {
  const data = { 'ca.crt': caCertificate };
  if (!current)
    return newObject(
      'v1',
      'ConfigMap',
      { name: rootCaName, annotations: { [rootCaAnnotation]: rootCaDescription } },
      { data },
    );
  if (equal(current['data'], data) && current.metadata.annotations?.[rootCaAnnotation]) return undefined;
  const changed = copy(current);
  changed['data'] = data;
  changed.metadata.annotations = { ...changed.metadata.annotations, [rootCaAnnotation]: rootCaDescription };
  return changed;
};

/** The CA certificate of the API server, in a ConfigMap that every Pod can mount. */
export const rootCaPublisher = (caCertificate: string, onError: OnError): Controller =>
  ensureInEveryNamespace(
    {
      name: 'root-ca',
      plural: 'configmaps',
      object: rootCaName,
      wanted: (current) => wantedRootCa(caCertificate, current),
    },
    onError,
  );
