import { type ConditionUpdate, getCondition, isConditionTrue } from '@tartan/kube';
import type { Counts, Machine } from '../kinds.ts';
import { aggregateCondition, sourceCondition } from './operations.ts';

/** Conditions that aggregate Machines, of any owner. */

export const countMachines = (machines: readonly Machine[]): Counts => {
  const count = (type: string): number =>
    machines.filter(({ status }) => isConditionTrue(status?.conditions, type)).length;
  return {
    replicas: machines.length,
    readyReplicas: count('Ready'),
    availableReplicas: count('Available'),
    upToDateReplicas: count('UpToDate'),
  };
};

export const machinesReady = (machines: readonly Machine[], type = 'MachinesReady'): ConditionUpdate =>
  aggregateMachines(machines, 'Ready', type, { issue: 'NotReady', unknown: 'ReadyUnknown', info: 'Ready' });

/** New Machines, which do not have the condition yet, do not count. */
export const machinesUpToDate = (machines: readonly Machine[], type = 'MachinesUpToDate'): ConditionUpdate =>
  aggregateMachines(
    machines.filter(({ status }) => getCondition(status?.conditions, 'UpToDate') !== undefined),
    'UpToDate',
    type,
    { issue: 'NotUpToDate', unknown: 'UpToDateUnknown', info: 'UpToDate' },
  );

const aggregateMachines = (
  machines: readonly Machine[],
  of: string,
  type: string,
  reasons: { issue: string; unknown: string; info: string },
): ConditionUpdate =>
  machines.length === 0
    ? { type, status: 'True', reason: 'NoReplicas' }
    : aggregateCondition(
        'Machine',
        machines.map(({ metadata, status }) => ({
          ...sourceCondition(status?.conditions, of),
          name: metadata?.name ?? '',
        })),
        { type, reasons },
      );

/** `ScalingUp` and `ScalingDown`. */
export const scalingConditions = (current: number, desired: number, blocked?: string): ConditionUpdate[] => {
  const change = `from ${current} to ${desired} replicas`;
  return [
    current < desired
      ? {
          type: 'ScalingUp',
          status: 'True',
          reason: 'ScalingUp',
          message: `Scaling up ${change}${blocked ? ` is blocked because ${blocked}` : ''}`,
        }
      : {
          type: 'ScalingUp',
          status: 'False',
          reason: 'NotScalingUp',
          message: blocked ? `Scaling up would be blocked because ${blocked}` : '',
        },
    current > desired
      ? { type: 'ScalingDown', status: 'True', reason: 'ScalingDown', message: `Scaling down ${change}` }
      : { type: 'ScalingDown', status: 'False', reason: 'NotScalingDown' },
  ];
};

export const deletingCondition = (deleting: boolean, machines: number): ConditionUpdate =>
  deleting
    ? {
        type: 'Deleting',
        status: 'True',
        reason: 'Deleting',
        message: machines === 0 ? 'Deletion completed' : `Deleting ${machines} Machine${machines === 1 ? '' : 's'}`,
      }
    : { type: 'Deleting', status: 'False', reason: 'NotDeleting' };

/** There is no MachineHealthCheck here, so Machines are never remediated. */
export const notRemediating: ConditionUpdate = { type: 'Remediating', status: 'False', reason: 'NotRemediating' };
