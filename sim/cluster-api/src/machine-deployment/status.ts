import { type ConditionUpdate, getCondition } from '@tartan/kube';
import {
  countMachines,
  deletingCondition,
  machinesReady,
  machinesUpToDate,
  notRemediating,
  scalingConditions,
} from '../conditions/machines.ts';
import { setConditions } from '../conditions/operations.ts';
import { pausedCondition } from '../conditions/paused.ts';
import type { MachineDeployment } from '../kinds.ts';
import { printSelector } from '../label-selector.ts';
import { rolloutLimits, type Snapshot } from './rollout.ts';

type Status = NonNullable<MachineDeployment['status']>;

const availableCondition = ({ deployment }: Snapshot, available: number): ConditionUpdate => {
  const type = 'Available';
  const { replicas = 1, rollout } = deployment.spec ?? {};
  const needed = replicas - rolloutLimits(deployment).maxUnavailable;
  if (available >= needed) return { type, status: 'True', reason: 'Available' };
  const limit = rollout?.strategy?.rollingUpdate?.maxUnavailable;
  const why =
    limit === undefined ? '' : ` (spec.strategy.rollout.maxUnavailable is ${limit}, spec.replicas is ${replicas})`;
  return {
    type,
    status: 'False',
    reason: 'NotAvailable',
    message:
      deployment.metadata.deletionTimestamp === undefined
        ? `${available} available replicas, at least ${needed} required${why}`
        : 'Deletion in progress',
  };
};

const rollingOutCondition = ({ machines }: Snapshot): ConditionUpdate => {
  const type = 'RollingOut';
  const outdated = machines.flatMap(({ status }) => {
    const found = getCondition(status?.conditions, 'UpToDate');
    return found?.status === 'False' ? [found] : [];
  });
  if (outdated.length === 0) return { type, status: 'False', reason: 'NotRollingOut' };
  const reasons = [...new Set(outdated.flatMap(({ message }) => message.split('\n')))].filter((text) => text !== '');
  return {
    type,
    status: 'True',
    reason: 'RollingOut',
    message: [`Rolling out ${outdated.length} not up-to-date replicas`, ...reasons.sort()].join('\n'),
  };
};

const phaseOf = (current: number, desired: number, deleting: boolean): string => {
  if (deleting || current > desired) return 'ScalingDown';
  return current < desired ? 'ScalingUp' : 'Running';
};

export const statusOf = (snapshot: Snapshot): Status => {
  const { deployment, cluster, machines, template, now } = snapshot;
  const { generation, deletionTimestamp } = deployment.metadata;
  const deleting = deletionTimestamp !== undefined;
  const { replicas = 1, selector } = deployment.spec ?? {};
  const counts = countMachines(machines);
  const desired = deleting ? 0 : replicas;
  const blocked = template && !template.object ? `${template.ref.kind} does not exist` : undefined;
  return {
    ...deployment.status,
    ...counts,
    selector: printSelector(selector),
    phase: phaseOf(counts.replicas, replicas, deleting),
    conditions: setConditions(
      deployment.status?.conditions,
      [
        pausedCondition(cluster, 'MachineDeployment', deployment),
        availableCondition(snapshot, counts.availableReplicas),
        rollingOutCondition(snapshot),
        ...scalingConditions(counts.replicas, desired, blocked),
        machinesReady(machines),
        machinesUpToDate(machines),
        notRemediating,
        deletingCondition(deleting, machines.length),
      ],
      { now, generation },
    ),
    ...(generation !== undefined && { observedGeneration: generation }),
  };
};

/** A paused object gets only the condition Paused. */
export const pausedStatus = ({ deployment, cluster, now }: Snapshot): Status => ({
  ...deployment.status,
  conditions: setConditions(
    deployment.status?.conditions,
    [pausedCondition(cluster, 'MachineDeployment', deployment)],
    { now, generation: deployment.metadata.generation },
  ),
});
