import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '@tartan/kube/clock';
import { stringify } from 'yaml';
import { authenticate } from './authentication/authenticator.ts';
import { impersonation } from './authentication/impersonation.ts';
import { tokenRequest } from './authentication/token-request.ts';
import { allowAll, type Authorizer } from './authorization/authorizer.ts';
import { createBootstrapRoles } from './authorization/bootstrap-policy.ts';
import { nodeAndRbacAuthorizer } from './authorization/union-authorizer.ts';
import { certificateApprover, certificateSigner } from './controllers/certificates.ts';
import { clusterRoleAggregation } from './controllers/cluster-role-aggregation.ts';
import { crdFinalizer } from './controllers/crd-finalizer.ts';
import { controllers } from './controllers/index.ts';
import type { Controller } from './controllers/runtime/workqueue.ts';
import { createHandle } from './endpoints/request-handler.ts';
import type { Handle } from './http-messages.ts';
import { connectWith, kubeletOptions } from './kubelet/kubelet-client.ts';
import { kubeletActions } from './kubelet/pod-streams.ts';
import { loadPkiKeys } from './pki/keys.ts';
import { type ClusterPki, createClusterPki, type PkiKeys } from './pki/pki.ts';
import { resourcesOf } from './registry/apiextensions/custom-resources.ts';
import { reviews } from './registry/authentication-reviews.ts';
import { builtinResources } from './registry/builtin.ts';
import { createRegistry } from './registry/registry.ts';
import { memoryStorage } from './storage/memory.ts';
import { type DataFolder, openData } from './storage/sqlite/data-folder.ts';
import { toDataError } from './storage/sqlite/database.ts';
import type { Storage } from './storage/storage.ts';
import { createLoopbackClient, type LoopbackClient } from './store/loopback-client.ts';
import type { Core } from './store/store.ts';

interface PersistedState extends DataFolder {
  keys: PkiKeys;
}

/** Opens everything that a server needs to continue. Releases the folder on any error. */
const openPersistedState = async (
  folder: string,
  clock: Clock,
  report: (error: unknown) => void,
): Promise<PersistedState> => {
  const data = await openData(folder, { report });
  try {
    return { ...data, keys: await loadPkiKeys(data.keyValues, clock) };
  } catch (error) {
    data.close();
    throw toDataError(folder, error);
  }
};

const daySeconds = 86_400;

/** A self-contained kubeconfig of an administrator. Contains a private key: write it with mode 0600. */
export const adminKubeconfig = async (identity: ClusterPki, server: string): Promise<string> => {
  const { certificate, key } = await identity.issue({
    commonName: 'kubernetes-admin',
    organizations: ['system:masters'],
    usages: ['client auth', 'digital signature'],
    seconds: 365 * daySeconds,
  });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'tartan', cluster: { server, 'certificate-authority-data': base64(identity.caCertificate) } }],
    users: [
      { name: 'admin', user: { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) } },
    ],
    contexts: [{ name: 'tartan', context: { cluster: 'tartan', user: 'admin' } }],
    'current-context': 'tartan',
  });
};

export interface KubernetesOptions {
  clock?: Clock;
  /**
   * The folder with everything: objects, resource versions, the certificate authority and the token key. A server that starts on it again
   * continues from there, also after a crash. Without it everything is in memory.
   */
  data?: string;
  /** Instead of the storage in `data`. */
  storage?: Storage;
  random?: () => number;
  uuid?: () => string;
  /** Default: RBAC and the Node authorizer, as on a real server. */
  authorize?: Authorizer;
  /** Called with bugs of the server itself. */
  report?: (error: unknown) => void;
  /** Run the built-in controllers: garbage collection, namespaces, scheduler, … */
  controllers?: boolean;
}

/** A whole control plane in one object. */
export interface Kubernetes {
  handle: Handle;
  api: LoopbackClient;
  identity: ClusterPki;
  /** Stops the controllers and releases the data folder. Watches end with their requests. */
  stop(): void;
}

/** Adds and removes custom resources with their definitions. */
const registerCustomResources = (core: Core, api: LoopbackClient): (() => void) => {
  const definitions = api.find('apiextensions.k8s.io', 'customresourcedefinitions');
  if (!definitions) return () => {};
  for (const definition of api.list(definitions, '')) {
    core.registry.setCustom(definition.metadata.name, resourcesOf(definition));
  }
  return api.subscribe(definitions, ({ object, previous }) => {
    const definition = object ?? previous;
    if (definition) core.registry.setCustom(definition.metadata.name, object ? resourcesOf(object) : []);
  });
};

export const createKubernetes = async (options: KubernetesOptions = {}): Promise<Kubernetes> => {
  const clock = options.clock ?? systemClock;
  const report = options.report ?? ((error: unknown) => console.error('embedded Kubernetes:', error));
  const data = options.data === undefined ? undefined : await openPersistedState(options.data, clock, report);
  const identity = await createClusterPki(clock, data?.keys);
  const core: Core = {
    clock,
    storage: options.storage ?? data?.storage ?? memoryStorage(),
    random: options.random ?? Math.random,
    uuid: options.uuid ?? randomUUID,
    registry: createRegistry(
      builtinResources({
        identity,
        kubelet: kubeletActions({ connect: connectWith(kubeletOptions(identity)) }),
        token: tokenRequest(identity),
        reviews: reviews(identity),
      }),
    ),
  };
  const api = createLoopbackClient(core, options.authorize ?? allowAll);
  const authorization = options.authorize ? undefined : nodeAndRbacAuthorizer(api);
  if (authorization) {
    createBootstrapRoles(core);
    api.authorize = authorization.authorize;
    api.ruleResolver = authorization.roles;
  }
  const running: Controller[] =
    options.controllers === false
      ? []
      : [
          ...controllers({ caCertificate: identity.caCertificate, report }),
          clusterRoleAggregation(report),
          certificateApprover,
          certificateSigner(identity),
        ];
  const always = [crdFinalizer(report)];
  const stops = [
    authorization?.stop ?? (() => {}),
    registerCustomResources(core, api),
    ...[...always, ...running].map((controller) => controller.start(api)),
  ];
  return {
    handle: createHandle({
      core,
      api,
      authenticate: (request) => authenticate(request, api, identity),
      impersonate: impersonation(api.authorize),
      report,
    }),
    api,
    identity,
    stop: () => {
      for (const stop of stops) stop();
      data?.close();
    },
  };
};
