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

/** What caches drop before it takes memory. Each changes the object in place, as caches allow. */

const dropMembers = (object: object | undefined, ...members: readonly string[]): void => {
  for (const member of members) if (object !== undefined) Reflect.deleteProperty(object, member);
};

/** Whose it is, what is written on it, where it is, with which image, and how it fares. What it was made of is the same for a whole pool. */
export const trimPod = (pod: Live<Pod>): Live<Pod> => {
  const { nodeName, containers = [] } = pod.spec ?? {};
  pod.spec = {
    containers: containers.map(({ name, image }) => ({ name, ...(image !== undefined && { image }) })),
    ...(nodeName !== undefined && { nodeName }),
  };
  return withoutManagedFields(pod);
};

/** Its name and who owns it. */
export const trimServiceAccount = (account: Live<ServiceAccount>): Live<ServiceAccount> => {
  dropMembers(account, 'secrets', 'imagePullSecrets');
  return withoutManagedFields(account);
};

/** Whether it is there, heard and open to Pods. Its images and addresses are the larger part of a Node. */
export const trimNode = (node: Live<Node>): Live<Node> => {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  dropMembers(ready, 'lastHeartbeatTime', 'reason', 'message');
  const isClosed = node.spec?.unschedulable === true;
  dropMembers(node.metadata, 'annotations', 'labels');
  node.spec = isClosed ? { unschedulable: true } : {};
  node.status = { conditions: ready ? [ready] : [] };
  return withoutManagedFields(node);
};

interface CacheOptions {
  readonly client: Client;
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Copies of all that is looked at again and again. Secrets are read one by one, when they are needed. */
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
    // Nothing else of a cluster is a Mac. A Pod that somebody put elsewhere has its Node looked up by name.
    nodes: createInformer({
      ...common,
      resource: nodes,
      labelSelector: `${labels.runtime}=${labelValues.runtime}`,
      transform: trimNode,
    }),
  };
};
