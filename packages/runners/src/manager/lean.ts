import { type Live, withoutManagedFields } from '@tartan/kube';
import type { Node, Pod, ServiceAccount } from '../pool/objects.ts';

/** What caches drop before it takes memory. Each changes the object in place, as caches allow. */

const drop = (object: object | undefined, ...members: readonly string[]): void => {
  for (const member of members) if (object !== undefined) Reflect.deleteProperty(object, member);
};

/** Whose it is, what is written on it, where it is, with which image, and how it fares. What it was made of is the same for a whole pool. */
export const leanPod = (pod: Live<Pod>): Live<Pod> => {
  const { nodeName, containers = [] } = pod.spec ?? {};
  pod.spec = {
    containers: containers.map(({ name, image }) => ({ name, ...(image !== undefined && { image }) })),
    ...(nodeName !== undefined && { nodeName }),
  };
  return withoutManagedFields(pod);
};

/** Its name and who owns it. */
export const leanAccount = (account: Live<ServiceAccount>): Live<ServiceAccount> => {
  drop(account, 'secrets', 'imagePullSecrets');
  return withoutManagedFields(account);
};

/** Whether it is there, heard and open to Pods. Its images and addresses are the larger part of a Node. */
export const leanNode = (node: Live<Node>): Live<Node> => {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  drop(ready, 'lastHeartbeatTime', 'reason', 'message');
  const isClosed = node.spec?.unschedulable === true;
  drop(node.metadata, 'annotations', 'labels');
  node.spec = isClosed ? { unschedulable: true } : {};
  node.status = { conditions: ready ? [ready] : [] };
  return withoutManagedFields(node);
};
