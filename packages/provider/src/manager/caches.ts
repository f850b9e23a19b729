import { cluster, externalControlPlane, labels, machine, macFleet, macHost } from '@tartan/api';
import {
  certificateSigningRequests,
  type Client,
  createWatchCache,
  type KubeObject,
  type Logger,
  nodes,
  pods,
  type Resource,
  secrets,
  type WatchCache,
  type WatchCacheOptions,
} from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';
import { coreClusters } from '../cluster/core-cluster.ts';
import { coreMachineDeployments } from '../core/machine-deployment.ts';
import { approvableRequests, servingRequests } from '../identity/index.ts';
import type { CoreVersion } from './core-version.ts';
import { isHeldByAgent, lean, leanNode, leanPod, withoutData } from './lean.ts';

interface CacheOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly coreVersion: CoreVersion;
  readonly secretsNamespace: string;
}

/**
 * Copies of all that controllers look at. Secrets are read one by one when they are needed; the only ones that are watched are the
 * kubeconfigs beside our own Secrets, and of those nothing but that they are there.
 */
export const createCaches = (options: CacheOptions) => {
  const { client, clock, random, log, coreVersion, secretsNamespace } = options;
  const cacheOf = <T extends KubeObject>(
    resource: Resource<T>,
    more: Partial<
      Pick<WatchCacheOptions<T>, 'namespace' | 'labelSelector' | 'fieldSelector' | 'transform' | 'keep'>
    > = {},
  ): WatchCache<T> => createWatchCache({ client, resource, clock, random, log, transform: lean, ...more });

  return {
    machines: cacheOf(machine.resource),
    macHosts: cacheOf(macHost.resource),
    macFleets: cacheOf(macFleet.resource),
    infrastructureClusters: cacheOf(cluster.resource),
    controlPlanes: cacheOf(externalControlPlane.resource),
    clusters: cacheOf(coreClusters(coreVersion)),
    machineDeployments: cacheOf(coreMachineDeployments(coreVersion)),
    nodes: cacheOf(nodes, { transform: leanNode }),
    pods: cacheOf(pods, { keep: isHeldByAgent, transform: leanPod }),
    certificateRequests: cacheOf(certificateSigningRequests, approvableRequests),
    servingRequests: cacheOf(certificateSigningRequests, servingRequests),
    kubeconfigs: cacheOf(secrets, {
      namespace: secretsNamespace,
      labelSelector: labels.clusterName,
      transform: withoutData,
    }),
  };
};

export type Caches = ReturnType<typeof createCaches>;
