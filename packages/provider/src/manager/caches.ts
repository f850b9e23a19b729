import {
  annotations,
  cluster,
  externalControlPlane,
  finalizers,
  labels,
  labelValues,
  macFleet,
  machine,
  macHost,
  vmStartCondition,
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
import type { CoreNode, Pod, SecretObject } from '../controller-deps.ts';
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
 * Of each kind, caches keep what decisions read: a cluster has many more Pods and Nodes than Macs, and no selector can leave them out. The
 * transforms copy what they keep: an object from which fields were deleted needs several times its memory.
 */

const pick = <T extends object, K extends keyof T>(object: T, keys: readonly K[]): Pick<T, K> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- It has those keys that the object has.
  Object.fromEntries(keys.flatMap((key) => (object[key] === undefined ? [] : [[key, object[key]]]))) as Pick<T, K>;

const identity = ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp'] as const;

/**
 * Pods that may have a virtual machine: an agent starts none before the Pod has this finalizer. Judged by the Pod and not by its Node,
 * which may be gone or unknown. To get all Pods of one Mac, ask the server (`spec.nodeName`).
 */
export const isHeldByAgent = (pod: Live<Pod>): boolean => hasFinalizer(pod, finalizers.vmCleanup);

/** Keeps finalizers, deletion and the name of the Node. */
export const trimPod = ({ apiVersion, kind, metadata, spec }: Live<Pod>): Live<Pod> => ({
  apiVersion,
  kind,
  metadata: pick(metadata, [...identity, 'finalizers']),
  spec: { containers: [], ...(spec?.nodeName !== undefined && { nodeName: spec.nodeName }) },
});

const keptNodeAnnotations = [annotations.hostConfigHash, annotations.cordonedForRoll];
const keptNodeConditions: readonly string[] = ['Ready', vmStartCondition];

/** Keeps what `Node` has, and nothing that changes with each heartbeat. */
export const trimNode = ({ apiVersion, kind, metadata, spec = {}, status = {} }: Live<CoreNode>): Live<CoreNode> => ({
  apiVersion,
  kind,
  metadata: {
    ...pick(metadata, [...identity, 'labels']),
    annotations: pick(metadata.annotations ?? {}, keptNodeAnnotations),
  },
  spec: pick(spec, ['providerID', 'unschedulable', 'taints']),
  status: {
    ...pick(status, ['addresses']),
    conditions: (status.conditions ?? [])
      .filter(({ type }) => keptNodeConditions.includes(type))
      .map((condition) => pick(condition, ['type', 'status', 'message', 'lastTransitionTime'])),
  },
});

/** Keeps the name and the owners. The content stays on the server. */
export const trimSecret = ({ apiVersion, kind, metadata }: Live<SecretObject>): Live<SecretObject> => ({
  apiVersion,
  kind,
  metadata: pick(metadata, [...identity, 'labels', 'ownerReferences']),
});

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

export const trimObject = <T extends KubeObject>(object: Live<T>): Live<T> => {
  if (object.metadata.annotations?.[lastApplied] !== undefined) {
    const { [lastApplied]: _, ...rest } = object.metadata.annotations;
    object.metadata.annotations = rest;
  }
  return withoutManagedFields(object);
};
