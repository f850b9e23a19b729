import {
  cluster,
  externalControlPlane,
  finalizers,
  labels,
  labelValues,
  macFleet,
  machine,
  macHost,
} from '@tartan/api';
import {
  certificateSigningRequests,
  type Client,
  createInformer,
  hasFinalizer,
  type Informer,
  type InformerOptions,
  type KubeObject,
  type Live,
  type Logger,
  nodes,
  pods,
  type Resource,
  secrets,
  withoutManagedFields,
} from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';
import type { Node, Pod, SecretObject } from '../controller-deps.ts';
import { coreClusters, coreMachineDeployments } from '../core/kinds.ts';
import { withoutSecretValues } from '../host-work/secrets.ts';
import { clientRequests, servingRequests } from '../identity/csr/controller.ts';
import { indexesOf } from '../indexes.ts';
import type { CoreVersion } from './core-version.ts';

interface CacheOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly coreVersion: CoreVersion;
  readonly secretsNamespace: string;
  /** The Secret with the key of the tailnet. */
  readonly tailscaleSecretName?: string | undefined;
}

/**
 * The caches of all controllers. Of Secrets, those that we manage and the key of the tailnet are watched, without their content: that is
 * read from the server when needed.
 */
export const createCaches = (options: CacheOptions) => {
  const { client, clock, random, log, coreVersion, secretsNamespace, tailscaleSecretName } = options;
  const cacheOf = <T extends KubeObject>(
    resource: Resource<T>,
    more: Partial<
      Pick<InformerOptions<T>, 'namespace' | 'labelSelector' | 'fieldSelector' | 'transform' | 'filter' | 'mustContain'>
    > = {},
  ): Informer<T> =>
    createInformer({
      client,
      resource,
      indexes: indexesOf(resource),
      clock,
      random,
      log,
      transform: trimObject,
      ...more,
    });

  return {
    machines: cacheOf(machine.resource),
    macHosts: cacheOf(macHost.resource),
    macFleets: cacheOf(macFleet.resource),
    infrastructureClusters: cacheOf(cluster.resource),
    controlPlanes: cacheOf(externalControlPlane.resource),
    clusters: cacheOf(coreClusters(coreVersion)),
    machineDeployments: cacheOf(coreMachineDeployments(coreVersion)),
    nodes: cacheOf(nodes, { transform: trimNode }),
    pods: cacheOf(pods, { mustContain: finalizers.vmCleanup, filter: isHeldByAgent, transform: trimPod }),
    certificateRequests: cacheOf(certificateSigningRequests, clientRequests),
    servingRequests: cacheOf(certificateSigningRequests, servingRequests),
    kubeconfigs: cacheOf(secrets, {
      namespace: secretsNamespace,
      labelSelector: labels.clusterName,
      transform: trimSecret,
    }),
    machineSecrets: cacheOf(secrets, {
      namespace: secretsNamespace,
      labelSelector: `${labels.managedBy}=${labelValues.managedBy}`,
      transform: withoutSecretValues,
    }),
    ...(tailscaleSecretName !== undefined && {
      tailscaleSecrets: cacheOf(secrets, {
        namespace: secretsNamespace,
        fieldSelector: `metadata.name=${tailscaleSecretName}`,
        transform: withoutSecretValues,
      }),
    }),
  };
};

export type Caches = ReturnType<typeof createCaches>;

/**
 * What caches drop to save memory: a cluster has many more Pods and Nodes than Macs, and no selector can leave them out. Each transform
 * changes the object in place, as caches allow.
 */

const deleteMembers = (object: object | undefined, ...members: readonly string[]): void => {
  for (const member of members) if (object !== undefined) Reflect.deleteProperty(object, member);
};

/**
 * Pods that may have a virtual machine: an agent starts none before the Pod has this finalizer. Judged by the Pod and not by its Node,
 * which may be gone or unknown. To get all Pods of one Mac, ask the server (`spec.nodeName`).
 */
export const isHeldByAgent = (pod: Live<Pod>): boolean => hasFinalizer(pod, finalizers.vmCleanup);

/** Keeps finalizers, deletion and the name of the Node. */
export const trimPod = (pod: Live<Pod>): Live<Pod> => {
  const nodeName = pod.spec?.nodeName;
  deleteMembers(pod, 'status');
  deleteMembers(pod.metadata, 'managedFields', 'annotations', 'labels', 'ownerReferences', 'generateName');
  pod.spec = { containers: [], ...(nodeName !== undefined && { nodeName }) };
  return pod;
};

/** Drops the list of images, which is the larger part of a Node. */
export const trimNode = (node: Live<Node>): Live<Node> => {
  deleteMembers(node.status, 'images', 'volumesInUse', 'volumesAttached');
  return withoutManagedFields(node);
};

/** Keeps the name and the owners. The content stays on the server. */
export const trimSecret = (secret: Live<SecretObject>): Live<SecretObject> => {
  deleteMembers(secret, 'data', 'stringData');
  deleteMembers(secret.metadata, 'annotations');
  return withoutManagedFields(secret);
};

export const trimObject = <T extends KubeObject>(object: Live<T>): Live<T> => {
  deleteMembers(object.metadata.annotations, 'kubectl.kubernetes.io/last-applied-configuration');
  return withoutManagedFields(object);
};
