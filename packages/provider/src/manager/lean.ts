import { finalizers } from '@tartan/api';
import {
  hasFinalizer,
  type KubeObject,
  type Live,
  type nodes,
  type pods,
  type secrets,
  withoutManagedFields,
} from '@tartan/kube';

/**
 * What caches drop before it takes memory: a cluster has many more Pods and Nodes than Macs, and none of them can be left out by a
 * selector. Each transform changes the object in place, as caches allow.
 */

type Pod = NonNullable<(typeof pods)['ofType']>;
type Node = NonNullable<(typeof nodes)['ofType']>;
type Secret = NonNullable<(typeof secrets)['ofType']>;

const drop = (object: object | undefined, ...members: readonly string[]): void => {
  for (const member of members) if (object !== undefined) Reflect.deleteProperty(object, member);
};

/**
 * Pods of which an agent may have a virtual machine: it starts none before the Pod has this finalizer. By the Pod itself and not by its
 * Node, which may be gone or not known yet. Whoever asks for all Pods of one Mac asks the server (`spec.nodeName`).
 */
export const isHeldByAgent = (pod: Live<Pod>): boolean => hasFinalizer(pod, finalizers.vmCleanup);

/** Who holds it, whether it goes, and on which Node it is. */
export const leanPod = (pod: Live<Pod>): Live<Pod> => {
  const nodeName = pod.spec?.nodeName;
  drop(pod, 'status');
  drop(pod.metadata, 'managedFields', 'annotations', 'labels', 'ownerReferences', 'generateName');
  pod.spec = { containers: [], ...(nodeName !== undefined && { nodeName }) };
  return pod;
};

/** Without the list of its images, which is the larger part of a Node. */
export const leanNode = (node: Live<Node>): Live<Node> => {
  drop(node.status, 'images', 'volumesInUse', 'volumesAttached');
  return withoutManagedFields(node);
};

/** Its name and who owns it. What it holds stays on the server. */
export const withoutData = (secret: Live<Secret>): Live<Secret> => {
  drop(secret, 'data', 'stringData');
  drop(secret.metadata, 'annotations');
  return withoutManagedFields(secret);
};

export const lean = <T extends KubeObject>(object: Live<T>): Live<T> => {
  drop(object.metadata.annotations, 'kubectl.kubernetes.io/last-applied-configuration');
  return withoutManagedFields(object);
};
