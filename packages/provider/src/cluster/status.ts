import { type ScalewayAppleSiliconCluster, say } from '@tartan/api';
import { type Condition, type ConditionUpdate, type Live, setCondition } from '@tartan/kube';
import type { Decision } from './decide.ts';

type Status = NonNullable<ScalewayAppleSiliconCluster['status']>;

/** Undefined: what is there stays. While it is paused, nothing but that is said. */
export const statusOf = (
  { metadata, status = {} }: Live<ScalewayAppleSiliconCluster>,
  decision: Decision,
  now: number,
): Status | undefined => {
  const { generation } = metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const withConditions = (...updates: ConditionUpdate[]): { conditions: readonly Condition[] } => ({
    conditions: updates.reduce<readonly Condition[]>(
      (conditions, update) => setCondition(conditions, { ...update, ...observed }, now),
      status.conditions ?? [],
    ),
  });
  switch (decision.kind) {
    case 'leave':
    case 'block move':
      return undefined;
    case 'pause':
      return { ...status, ...withConditions(say('ScalewayAppleSiliconCluster', 'Paused', 'Paused', decision.why)) };
    case 'proceed':
      return {
        ...status,
        ready: true,
        initialization: { provisioned: true },
        ...observed,
        ...withConditions(
          say('ScalewayAppleSiliconCluster', 'Ready', 'Provisioned'),
          say('ScalewayAppleSiliconCluster', 'Paused', 'NotPaused'),
          say('ScalewayAppleSiliconCluster', 'MoveBlocked', 'MacsAreNodesHere'),
        ),
      };
  }
};
