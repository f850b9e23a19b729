import {
  type Client,
  createInformer,
  createManager,
  type KubeObject,
  type Live,
  type Logger,
  type ManagerResult,
  nodes,
  type Resource,
  secrets,
  type Subresources,
  withoutManagedFields,
} from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';
import { createClusterController } from './cluster/controller.ts';
import type { Intervals } from './context.ts';
import { createObjectTracker } from './external/object-tracker.ts';
import { clusters, machineDeployments, machines, machineSets } from './kinds.ts';
import { createMachineDeploymentController } from './machine-deployment/controller.ts';
import { createMachineSetController } from './machine-set/controller.ts';
import { createMachineController } from './machine/controller.ts';
import { labels } from './names.ts';

export interface ClusterApiOptions {
  readonly client: Client;
  readonly evictPod: Subresources['evictPod'];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Default: those of core: 20 s for a drain, 30 s for a missing object, 5 s for a Cluster that is being deleted. */
  readonly intervals?: Partial<Intervals>;
}

export interface ClusterApi {
  /** Once. Resolves when everything has stopped. */
  run(signal: AbortSignal): Promise<ManagerResult>;
}

const defaultIntervals: Intervals = { drainRetryMs: 20_000, externalRetryMs: 30_000, deletionRetryMs: 5_000 };

const withoutData = (secret: Live<KubeObject & { data?: unknown }>): Live<KubeObject> => {
  Reflect.deleteProperty(secret, 'data');
  return withoutManagedFields(secret);
};

/**
 * The behaviour of Cluster API core 1.14, as far as an infrastructure provider and its users see it: Cluster, MachineDeployment, MachineSet
 * and Machine, on any API server. Machines join the same cluster in which it runs.
 *
 * Not included: MachineHealthCheck and remediation, MachinePool, ClusterClass, bootstrap providers (`configRef`), in-place updates, taints
 * of Machines, waiting for volumes, the version checks before a MachineSet grows, webhooks except their defaults. If the kubeconfig exists,
 * core counts as connected; its user and permissions are not checked.
 */
export const createClusterApi = (options: ClusterApiOptions): ClusterApi => {
  const { client, evictPod, clock, random, log } = options;
  const cacheOf = <T extends KubeObject>(resource: Resource<T>) =>
    createInformer({ client, resource, clock, random, log, transform: withoutManagedFields });
  const caches = {
    clusters: cacheOf(clusters),
    machines: cacheOf(machines),
    machineSets: cacheOf(machineSets),
    machineDeployments: cacheOf(machineDeployments),
    nodes: createInformer({
      client,
      resource: nodes,
      clock,
      random,
      log,
      indexes: { providerID: ({ spec }) => (spec?.providerID ? [spec.providerID] : []) },
      transform: withoutManagedFields,
    }),
  };
  const kubeconfigs = createInformer<KubeObject>({
    client,
    resource: secrets,
    labelSelector: labels.clusterName,
    clock,
    random,
    log,
    transform: withoutData,
  });
  const externals = createObjectTracker({ client, clock, random, log });
  const intervals = { ...defaultIntervals, ...options.intervals };
  const context = { client, evictPod, externals, caches, clock, random, log, intervals };
  const manager = createManager({
    caches: { ...caches, kubeconfigs },
    controllers: [
      { name: 'objects of providers', run: (signal) => externals.run(signal) },
      createClusterController(context, kubeconfigs),
      createMachineDeploymentController(context),
      createMachineSetController(context),
      createMachineController(context),
    ],
    clock,
    log,
  });
  return { run: (signal) => manager.run(signal) };
};
