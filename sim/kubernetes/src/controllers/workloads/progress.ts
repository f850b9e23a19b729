import { timestamp } from '@tartan/kube/clock';
import type { DeploymentCondition, DeploymentSpec, DeploymentStatus } from './shapes.ts';

/** What happened to the set of the current template in this pass. */
export type Note = 'created' | 'found' | undefined;

export interface ProgressFacts {
  spec: Pick<DeploymentSpec, 'replicas' | 'paused' | 'progressDeadlineSeconds'>;
  deployment: string;
  /** Name of the current set, if there is one. */
  current: string | undefined;
  before: DeploymentStatus;
  /** Counts alone. */
  status: DeploymentStatus;
  generation: number;
  note: Note;
  now: number;
}

/** Stands for "for ever". */
const noDeadline = 2 ** 31 - 1;

const hasDeadline = ({ progressDeadlineSeconds }: Pick<DeploymentSpec, 'progressDeadlineSeconds'>): boolean =>
  progressDeadlineSeconds !== noDeadline;

export const isComplete = (replicas: number, status: DeploymentStatus, generation: number): boolean =>
  (status.updatedReplicas ?? 0) === replicas &&
  (status.replicas ?? 0) === replicas &&
  (status.availableReplicas ?? 0) === replicas &&
  (status.observedGeneration ?? 0) >= generation;

const oldOnes = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus): number => replicas - updatedReplicas;

const movedOn = (status: DeploymentStatus, before: DeploymentStatus): boolean =>
  (status.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
  oldOnes(status) < oldOnes(before) ||
  (status.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
  (status.availableReplicas ?? 0) > (before.availableReplicas ?? 0);

export const progressing = (status: DeploymentStatus): DeploymentCondition | undefined =>
  status.conditions?.find(({ type }) => type === 'Progressing');

/** Milliseconds until there has been no progress for too long; undefined when nothing is awaited. */
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

type Verdict = Pick<DeploymentCondition, 'status' | 'reason' | 'message'> & {
  /** Say it again with a new time. */ renew?: boolean;
};

const verdictOf = (facts: ProgressFacts): Verdict | undefined => {
  const { spec, before, status, generation, note, now } = facts;
  const old = progressing(before);
  const subject = facts.current ? `ReplicaSet "${facts.current}"` : `Deployment "${facts.deployment}"`;
  if (old?.reason === 'ProgressDeadlineExceeded' && spec.paused) return undefined;
  if (spec.paused) return { status: 'Unknown', reason: 'DeploymentPaused', message: 'Deployment is paused' };
  if (note === 'created')
    return { status: 'True', reason: 'NewReplicaSetCreated', message: `Created new replica set "${facts.current}"` };
  if (note === 'found')
    return { status: 'True', reason: 'FoundNewReplicaSet', message: `Found new replica set "${facts.current}"` };
  if (old?.reason === 'NewReplicaSetAvailable' && oldOnes(status) === 0) return undefined;
  if (isComplete(spec.replicas, status, generation))
    return { status: 'True', reason: 'NewReplicaSetAvailable', message: `${subject} has successfully progressed.` };
  if (movedOn(status, before))
    return { status: 'True', reason: 'ReplicaSetUpdated', message: `${subject} is progressing.`, renew: true };
  if ((untilTimedOut(spec, old, now) ?? 1) <= 0)
    return { status: 'False', reason: 'ProgressDeadlineExceeded', message: `${subject} has timed out progressing.` };
  if (old?.reason === 'DeploymentPaused')
    return { status: 'Unknown', reason: 'DeploymentResumed', message: 'Deployment is resumed' };
  return undefined;
};

/** The list with that condition in it: its times change with its status, and not when it says the same again. */
export const withCondition = (
  conditions: readonly DeploymentCondition[],
  type: string,
  { renew = false, ...verdict }: Verdict,
  now: number,
): DeploymentCondition[] => {
  const old = conditions.find((condition) => condition.type === type);
  if (old && !renew && old.status === verdict.status && old.reason === verdict.reason) return [...conditions];
  const at = timestamp(now);
  const lastTransitionTime = old?.status === verdict.status ? (old.lastTransitionTime ?? at) : at;
  const next = { type, ...verdict, lastUpdateTime: at, lastTransitionTime };
  return [...conditions.filter((condition) => condition !== old), next];
};

/** Whether the rollout gets on, in the words of the real controller. Without a deadline nothing is said. */
export const withProgress = (
  conditions: readonly DeploymentCondition[],
  facts: ProgressFacts,
): DeploymentCondition[] => {
  if (!hasDeadline(facts.spec)) return conditions.filter(({ type }) => type !== 'Progressing');
  const verdict = verdictOf(facts);
  return verdict ? withCondition(conditions, 'Progressing', verdict, facts.now) : [...conditions];
};
