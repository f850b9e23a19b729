import { randomUUID } from 'node:crypto';
import type { Api } from './api/api.ts';
import type { Core } from './api/core.ts';
import { createLocalApi } from './api/local-api.ts';
import { createRegistry } from './api/registry.ts';
import { authenticate } from './auth/authenticate.ts';
import { allowAll, type Authorizer } from './auth/authorizer.ts';
import { createIdentity } from './auth/create-identity.ts';
import type { Identity } from './auth/identity.ts';
import { impersonation } from './auth/impersonate.ts';
import { clusterRoleAggregation } from './auth/roles/aggregation.ts';
import { createBootstrapRoles } from './auth/roles/bootstrap-roles.ts';
import { rolesAndNodes } from './auth/roles-and-nodes.ts';
import { tokenRequest } from './auth/token-request.ts';
import { type Clock, systemClock } from '@tartan/kube/clock';
import { certificateApprover, certificateSigner } from './controllers/certificates.ts';
import type { Controller } from './controllers/controller.ts';
import { customResourceCleanup } from './controllers/custom-resource-cleanup.ts';
import { controllers } from './controllers/index.ts';
import type { Handle } from './exchange/exchange.ts';
import { resourcesOf } from './kinds/custom-resources.ts';
import { builtinResources } from './kinds/index.ts';
import { reviews } from './kinds/reviews.ts';
import { connectWith, kubeletOptions } from './kubelet/connect.ts';
import { kubeletActions } from './kubelet/kubelet-actions.ts';
import { openKept } from './open-kept.ts';
import { createHandle } from './requests/handle.ts';
import { memoryStorage } from './storage/memory.ts';
import type { Storage } from './storage/storage.ts';

export interface KubernetesOptions {
  clock?: Clock;
  /**
   * The folder that keeps everything: objects, resource versions, the certificate authority and the token key. Whoever starts on it
   * again goes on where the last one ended, however that one ended. Without it everything is in memory.
   */
  data?: string;
  /** In place of what `data` would open. */
  storage?: Storage;
  random?: () => number;
  uuid?: () => string;
  /** Who may do what. By default roles and their bindings decide, and Nodes keep to what is theirs, as on a real server. */
  authorize?: Authorizer;
  /** Told of defects of the server itself. */
  report?: (error: unknown) => void;
  /** Run the built-in controllers: garbage collection, namespaces, scheduler, … */
  controllers?: boolean;
}

/** A whole control plane in one object. */
export interface Kubernetes {
  handle: Handle;
  api: Api;
  identity: Identity;
  /** Stops the controllers and lets go of the data folder. Watches end with their requests. */
  stop(): void;
}

/** Custom resources come and go with their definitions. */
const followDefinitions = (core: Core, api: Api): (() => void) => {
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
  const data = options.data === undefined ? undefined : await openKept(options.data, clock, report);
  const identity = await createIdentity(clock, data?.keys);
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
  const api = createLocalApi(core, options.authorize ?? allowAll);
  const authorization = options.authorize ? undefined : rolesAndNodes(api);
  if (authorization) {
    createBootstrapRoles(core);
    api.authorize = authorization.authorize;
    api.roles = authorization.roles;
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
  const always = [customResourceCleanup(report)];
  const stops = [
    authorization?.stop ?? (() => {}),
    followDefinitions(core, api),
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
