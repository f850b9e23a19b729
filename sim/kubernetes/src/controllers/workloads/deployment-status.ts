import { allowanceOf } from './amounts.ts';
import { type Note, withCondition, withProgress } from './progress.ts';
import {
  type Deployment,
  type DeploymentCondition,
  type DeploymentStatus,
  type ReplicaSet,
  totalOf,
} from './shapes.ts';

const counts = (
  deployment: Deployment,
  current: ReplicaSet | undefined,
  all: readonly ReplicaSet[],
): DeploymentStatus => {
  const available = totalOf(all, ({ status }) => status.availableReplicas);
  const { collisionCount } = deployment.status;
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: totalOf(all, ({ status }) => status.replicas),
    updatedReplicas: current?.status.replicas ?? 0,
    readyReplicas: totalOf(all, ({ status }) => status.readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, totalOf(all, ({ spec }) => spec.replicas) - available),
    terminatingReplicas: totalOf(all, ({ status }) => status.terminatingReplicas),
    ...(collisionCount === undefined ? {} : { collisionCount }),
  };
};

const enough = { status: 'True', reason: 'MinimumReplicasAvailable', message: 'Deployment has minimum availability.' };
const tooFew = {
  status: 'False',
  reason: 'MinimumReplicasUnavailable',
  message: 'Deployment does not have minimum availability.',
};

/** A set that cannot make its Pods says why; the Deployment hands it on. */
const withFailure = (
  conditions: DeploymentCondition[],
  all: readonly ReplicaSet[],
  now: number,
): DeploymentCondition[] => {
  const failure = all.flatMap(({ status }) => status.conditions ?? []).find(({ type }) => type === 'ReplicaFailure');
  const others = conditions.filter(({ type }) => type !== 'ReplicaFailure');
  if (!failure) return others;
  const { status, reason = '', message = '' } = failure;
  return withCondition(conditions, 'ReplicaFailure', { status, reason, message }, now);
};

/** What a Deployment says of its sets. */
export const deploymentStatus = (
  deployment: Deployment,
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
  note: Note,
  now: number,
): DeploymentStatus => {
  const { spec, metadata } = deployment;
  const all = [...(current ? [current] : []), ...old];
  const status = counts(deployment, current, all);
  const isAvailable = (status.availableReplicas ?? 0) >= spec.replicas - allowanceOf(spec).maxUnavailable;
  const before = deployment.status;
  const available = withCondition(before.conditions ?? [], 'Available', isAvailable ? enough : tooFew, now);
  const facts = {
    spec,
    deployment: metadata.name,
    current: current?.metadata.name,
    before,
    status,
    generation: metadata.generation ?? 0,
    note,
    now,
  };
  const conditions = withFailure(metadata.deletionTimestamp ? available : withProgress(available, facts), all, now);
  return { ...status, conditions };
};
