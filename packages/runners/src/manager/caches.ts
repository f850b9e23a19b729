import { labels, labelValues, runnerPool } from '@tartan/api';
import {
  type Client,
  createInformer,
  type Live,
  type Logger,
  nodes,
  pods,
  serviceAccounts,
  withoutManagedFields,
} from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';
import type { Node, Pod, ServiceAccount } from '../pool/snapshot.ts';
import { accountIndexes, podIndexes } from '../pool/watches.ts';

/** Caches keep only the fields that decisions read. */

/** Without its template, which is the same for a whole pool. */
export const trimPod = (pod: Live<Pod>): Live<Pod> => {
  const { nodeName, containers = [] } = pod.spec ?? {};
  pod.spec = {
    containers: containers.map(({ name, image }) => ({ name, ...(image !== undefined && { image }) })),
    ...(nodeName !== undefined && { nodeName }),
  };
  return withoutManagedFields(pod);
};

export const trimServiceAccount = ({ apiVersion, kind, metadata }: Live<ServiceAccount>): Live<ServiceAccount> =>
  withoutManagedFields({ apiVersion, kind, metadata });

/** Its images and addresses are the larger part of a Node. */
export const trimNode = ({ apiVersion, kind, ...node }: Live<Node>): Live<Node> => {
  const { annotations: _, labels: __, ...metadata } = node.metadata;
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  const { type = 'Ready', status = 'Unknown', lastTransitionTime } = ready ?? {};
  return withoutManagedFields({
    apiVersion,
    kind,
    metadata,
    spec: node.spec?.unschedulable === true ? { unschedulable: true } : {},
    status: { conditions: ready ? [{ type, status, ...(lastTransitionTime && { lastTransitionTime }) }] : [] },
  });
};

interface CacheOptions {
  readonly client: Client;
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Informers of all that is read often. Secrets are read one by one, when they are needed. */
export const createCaches = ({ client, namespace, clock, random, log }: CacheOptions) => {
  const common = { client, clock, random, log };
  return {
    pools: createInformer({ ...common, resource: runnerPool.resource, namespace, transform: withoutManagedFields }),
    pods: createInformer({
      ...common,
      resource: pods,
      namespace,
      labelSelector: `${labels.runner}=true`,
      indexes: podIndexes,
      transform: trimPod,
    }),
    accounts: createInformer({
      ...common,
      resource: serviceAccounts,
      namespace,
      labelSelector: labels.runnerPool,
      indexes: accountIndexes,
      transform: trimServiceAccount,
    }),
    // Only Macs. The Node of a Pod that is bound elsewhere is read live.
    nodes: createInformer({
      ...common,
      resource: nodes,
      labelSelector: `${labels.runtime}=${labelValues.runtime}`,
      transform: trimNode,
    }),
  };
};
