import { isObject, type KubeObject, type ObjectMeta } from '../../object.ts';
import type { LabelSelector } from '../../selectors/label-selector.ts';
import type { Condition, PodSpec } from '../runtime/objects.ts';

/** The fields of Deployments and ReplicaSets that their controllers use. */

export interface PodTemplate {
  metadata?: Pick<ObjectMeta, 'labels' | 'annotations' | 'finalizers'>;
  spec?: PodSpec;
}

/** A number, or a percentage of the replicas. */
export type IntOrPercent = number | string;

export interface DeploymentCondition extends Condition {
  lastUpdateTime?: string | null;
}

interface WorkloadSpec {
  replicas: number;
  minReadySeconds?: number;
  selector: LabelSelector;
  template: PodTemplate;
}

export interface DeploymentSpec extends WorkloadSpec {
  paused?: boolean;
  progressDeadlineSeconds: number;
  revisionHistoryLimit: number;
  strategy: { type: string; rollingUpdate?: { maxSurge: IntOrPercent; maxUnavailable: IntOrPercent } };
}

export interface DeploymentStatus {
  observedGeneration?: number;
  replicas?: number;
  updatedReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  unavailableReplicas?: number;
  terminatingReplicas?: number;
  collisionCount?: number;
  conditions?: DeploymentCondition[];
}

export interface ReplicaSetStatus {
  observedGeneration?: number;
  replicas: number;
  fullyLabeledReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  terminatingReplicas?: number;
  conditions?: Condition[];
}

export interface Deployment extends KubeObject {
  spec: DeploymentSpec;
  status: DeploymentStatus;
}

export interface ReplicaSet extends KubeObject {
  spec: WorkloadSpec;
  status: ReplicaSetStatus;
}

// Stored objects are defaulted and validated.
const isWhole = (object: KubeObject): boolean => isObject(object['spec']) && isObject(object['status']);
const isDeployment = (object: KubeObject): object is Deployment => isWhole(object);
const isReplicaSet = (object: KubeObject): object is ReplicaSet => isWhole(object);

export const asDeployment = (object: KubeObject | undefined): Deployment | undefined =>
  object && isDeployment(object) ? object : undefined;

export const asReplicaSet = (object: KubeObject | undefined): ReplicaSet | undefined =>
  object && isReplicaSet(object) ? object : undefined;

export const hashLabel = 'pod-template-hash';

export const totalOf = <T>(items: readonly T[], count: (item: T) => number | undefined): number =>
  items.reduce((sum, item) => sum + (count(item) ?? 0), 0);

export const byAge = (a: KubeObject, b: KubeObject): number =>
  Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp) ||
  (a.metadata.name < b.metadata.name ? -1 : 1);
