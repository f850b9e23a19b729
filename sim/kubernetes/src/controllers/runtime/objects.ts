import { timestamp } from '@tartan/kube/clock';
import { isObject, type KubeObject, type ObjectMeta } from '../../object.ts';

/** An object as a client sends it: the server fills in the rest of the metadata. */
export const newObject = (
  apiVersion: string,
  kind: string,
  metadata: Partial<ObjectMeta> & { name: string },
  rest: Record<string, unknown> = {},
): KubeObject => ({
  apiVersion,
  kind,
  ...rest,
  metadata: { uid: '', resourceVersion: '', creationTimestamp: '', ...metadata },
});

/** The fields of Pods, Nodes and Namespaces that controllers use. */

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  observedGeneration?: number;
  lastHeartbeatTime?: string | null;
  lastProbeTime?: string | null;
  lastTransitionTime?: string | null;
}

export interface Taint {
  key: string;
  value?: string;
  effect: string;
  timeAdded?: string;
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

export type Quantities = Record<string, string | number>;

export interface Container {
  name: string;
  restartPolicy?: string;
  resources?: { requests?: Quantities };
}

export interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

export interface NodeSelectorTerm {
  matchExpressions?: Requirement[];
  matchFields?: Requirement[];
}

export interface PodSpec {
  nodeName?: string;
  schedulerName?: string;
  nodeSelector?: Record<string, string>;
  affinity?: {
    nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms: NodeSelectorTerm[] } };
  };
  tolerations?: Toleration[];
  schedulingGates?: { name: string }[];
  containers?: Container[];
  initContainers?: Container[];
  resources?: { requests?: Quantities };
  overhead?: Quantities;
  terminationGracePeriodSeconds?: number;
}

interface PodStatus {
  phase?: string;
  conditions?: Condition[];
  observedGeneration?: number;
}

export interface Pod extends KubeObject {
  spec: PodSpec;
  status?: PodStatus;
}

export interface NodeSpec {
  taints?: Taint[];
  unschedulable?: boolean;
}

interface NodeStatus {
  conditions?: Condition[];
  allocatable?: Quantities;
}

export interface Node extends KubeObject {
  spec: NodeSpec;
  status?: NodeStatus;
}

export interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] };
  status?: { phase?: string; conditions?: Condition[] };
}

const hasPodSpec = (object: KubeObject): object is Pod => isObject(object['spec']);
const hasNodeSpec = (object: KubeObject): object is Node => isObject(object['spec']);

/** Stored objects have passed validation; only the spec may be missing. */
export const asPod = (object: KubeObject): Pod => (hasPodSpec(object) ? object : { ...object, spec: {} });
export const asNode = (object: KubeObject): Node => (hasNodeSpec(object) ? object : { ...object, spec: {} });

export const conditionOf = (object: Pod | Node, type: string): Condition | undefined =>
  object.status?.conditions?.find((condition) => condition.type === type);

export const isFinished = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

export const isTerminating = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined;

/** The work queue key of an object. */
export const keyOf = (object: KubeObject): string => `${object.metadata.namespace ?? ''}/${object.metadata.name}`;

export const splitKey = (key: string): { namespace: string; name: string } => {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
};

/** The Pod's status with that condition; undefined when unchanged. lastTransitionTime changes only with the status of the condition. */
export const withPodCondition = (
  pod: Pod,
  condition: { type: string; status: string; reason: string; message: string },
  now: number,
): PodStatus | undefined => {
  const conditions = pod.status?.conditions ?? [];
  const old = conditions.find(({ type }) => type === condition.type);
  if (old && old.status === condition.status && old.reason === condition.reason && old.message === condition.message) {
    return undefined;
  }
  const updated: Condition = {
    ...condition,
    lastProbeTime: null,
    lastTransitionTime: old?.status === condition.status ? (old.lastTransitionTime ?? null) : timestamp(now),
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
  };
  return {
    ...pod.status,
    conditions: old ? conditions.map((entry) => (entry === old ? updated : entry)) : [...conditions, updated],
  };
};
