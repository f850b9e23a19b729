import { timestamp } from '@tartan/kube/clock';
import {
  type Deployment,
  type DeploymentCondition,
  type DeploymentSpec,
  type DeploymentStatus,
  type ReplicaSet,
  totalOf,
} from './objects.ts';
import { rolloutLimits } from './rollout.ts';

/** What this pass did about the ReplicaSet of the current template. */
export type NewSetOutcome = 'created' | 'found' | undefined;

export interface ProgressFacts {
  spec: Pick<DeploymentSpec, 'replicas' | 'paused' | 'progressDeadlineSeconds'>;
  deployment: string;
  /** Name of the current ReplicaSet, if there is one. */
  current: string | undefined;
  before: DeploymentStatus;
  /** Only the counts, without conditions. */
  status: DeploymentStatus;
  generation: number;
  note: NewSetOutcome;
  now: number;
}

/** Means "no deadline". */
const noDeadline = 2 ** 31 - 1;

const hasDeadline = ({ progressDeadlineSeconds }: Pick<DeploymentSpec, 'progressDeadlineSeconds'>): boolean =>
  progressDeadlineSeconds !== noDeadline;

export const isComplete = (replicas: number, status: DeploymentStatus, generation: number): boolean =>
  (status.updatedReplicas ?? 0) === replicas &&
  (status.replicas ?? 0) === replicas &&
  (status.availableReplicas ?? 0) === replicas &&
  (status.observedGeneration ?? 0) >= generation;

const oldReplicas = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus): number => replicas - updatedReplicas;

const hasProgressed = (status: DeploymentStatus, before: DeploymentStatus): boolean =>
  (status.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
  oldReplicas(status) < oldReplicas(before) ||
  (status.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
  (status.availableReplicas ?? 0) > (before.availableReplicas ?? 0);

export const progressing = (status: DeploymentStatus): DeploymentCondition | undefined =>
  status.conditions?.find(({ type }) => type === 'Progressing');

/** Milliseconds until the progress deadline; undefined when no progress is expected. */
export const untilTimedOut = (
  spec: Pick<DeploymentSpec, 'progressDeadlineSeconds'>,
  condition: DeploymentCondition | undefined,
  now: number,
): number | undefined => {
  if (!hasDeadline(spec) || !condition) return undefined;
  if (['NewReplicaSetAvailable', 'ProgressDeadlineExceeded', 'DeploymentPaused'].includes(condition.reason ?? ''))
    return undefined;
  return Date.parse(condition.lastUpdateTime ?? '') + spec.progressDeadlineSeconds * 1000 - now;
};

type ProgressCondition = Pick<DeploymentCondition, 'status' | 'reason' | 'message'> & {
  /** Repeat it with a new time. */ renew?: boolean;
};

const progressCondition = (facts: ProgressFacts): ProgressCondition | undefined => {
  const { spec, before, status, generation, note, now } = facts;
  const old = progressing(before);
  const subject = facts.current ? `ReplicaSet "${facts.current}"` : `Deployment "${facts.deployment}"`;
  if (old?.reason === 'ProgressDeadlineExceeded' && spec.paused) return undefined;
  if (spec.paused) return { status: 'Unknown', reason: 'DeploymentPaused', message: 'Deployment is paused' };
  if (note === 'created')
    return { status: 'True', reason: 'NewReplicaSetCreated', message: `Created new replica set "${facts.current}"` };
  if (note === 'found')
    return { status: 'True', reason: 'FoundNewReplicaSet', message: `Found new replica set "${facts.current}"` };
  if (old?.reason === 'NewReplicaSetAvailable' && oldReplicas(status) === 0) return undefined;
  if (isComplete(spec.replicas, status, generation))
    return { status: 'True', reason: 'NewReplicaSetAvailable', message: `${subject} has successfully progressed.` };
  if (hasProgressed(status, before))
    return { status: 'True', reason: 'ReplicaSetUpdated', message: `${subject} is progressing.`, renew: true };
  if ((untilTimedOut(spec, old, now) ?? 1) <= 0)
    return { status: 'False', reason: 'ProgressDeadlineExceeded', message: `${subject} has timed out progressing.` };
  if (old?.reason === 'DeploymentPaused')
    return { status: 'Unknown', reason: 'DeploymentResumed', message: 'Deployment is resumed' };
  return undefined;
};

/** The conditions with that one added: its times change with its status, and not when it is repeated. */
export const withCondition = (
  conditions: readonly DeploymentCondition[],
  type: string,
  { renew = false, ...verdict }: ProgressCondition,
  now: number,
): DeploymentCondition[] => {
  const old = conditions.find((condition) => condition.type === type);
  if (old && !renew && old.status === verdict.status && old.reason === verdict.reason) return [...conditions];
  const at = timestamp(now);
  const lastTransitionTime = old?.status === verdict.status ? (old.lastTransitionTime ?? at) : at;
  const next = { type, ...verdict, lastUpdateTime: at, lastTransitionTime };
  return [...conditions.filter((condition) => condition !== old), next];
};

/** The Progressing condition, in the words of the real controller. None without a deadline. */
export const withProgress = (
  conditions: readonly DeploymentCondition[],
  facts: ProgressFacts,
): DeploymentCondition[] => {
  if (!hasDeadline(facts.spec)) return conditions.filter(({ type }) => type !== 'Progressing');
  const verdict = progressCondition(facts);
  return verdict ? withCondition(conditions, 'Progressing', verdict, facts.now) : [...conditions];
};

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

const minimumAvailable = {
  status: 'True',
  reason: 'MinimumReplicasAvailable',
  message: 'Deployment has minimum availability.',
};
const minimumUnavailable = {
  status: 'False',
  reason: 'MinimumReplicasUnavailable',
  message: 'Deployment does not have minimum availability.',
};

/** Copies the ReplicaFailure condition of a ReplicaSet to the Deployment. */
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

/** The status of a Deployment, computed from its ReplicaSets. */
export const deploymentStatus = (
  deployment: Deployment,
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
  note: NewSetOutcome,
  now: number,
): DeploymentStatus => {
  const { spec, metadata } = deployment;
  const all = [...(current ? [current] : []), ...old];
  const status = counts(deployment, current, all);
  const isAvailable = (status.availableReplicas ?? 0) >= spec.replicas - rolloutLimits(spec).maxUnavailable;
  const before = deployment.status;
  const available = withCondition(
    before.conditions ?? [],
    'Available',
    isAvailable ? minimumAvailable : minimumUnavailable,
    now,
  );
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
