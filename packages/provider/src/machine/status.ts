import type { MachineStatus } from '@tartan/api';
import { type Condition, type ConditionUpdate, setCondition } from '@tartan/kube';
import { addressesOf } from './addresses.ts';
import { conditionsOf } from './conditions.ts';
import { actualHash } from './decide-drift.ts';
import { phaseOf } from './phase.ts';
import type { Machine } from './record.ts';
import type { Told } from './told.ts';

/**
 * What users see of a machine: derived here, from what was found and what came of it, and assigned nowhere else (I-54). `memory` is
 * what is written down after the act. Idempotent; the very same status when there is nothing new to say.
 */
export const statusOf = (memory: MachineStatus, { metadata }: Machine, told: Told): MachineStatus => {
  const { decision, snapshot } = told;
  const status = { ...planned(memory, told), ...hashesOf(memory, told) };
  const observed = metadata.generation === undefined ? {} : { observedGeneration: metadata.generation };
  const withConditions = (updates: readonly ConditionUpdate[]): readonly Condition[] =>
    updates.reduce<readonly Condition[]>(
      (conditions, update) => setCondition(conditions, { ...update, ...observed }, snapshot.now),
      status.conditions ?? [],
    );
  const updates = conditionsOf(status, told);
  // While it is paused nothing but that is said: nobody has looked at the rest.
  if (decision.kind === 'pause') return { ...memory, conditions: withConditions(updates) };
  const { addresses: _before, ...rest } = status;
  const addresses = addressesOf(told);
  const conditions = withConditions(updates);
  return {
    ...rest,
    ...observed,
    ...(addresses.length > 0 && { addresses }),
    ready: updates.some(({ type, status: holds }) => type === 'Ready' && holds === 'True'),
    phase: phaseOf(status, told),
    conditions,
  };
};

/** Whose word `desiredHostConfigHash` is. One that nobody signs is nobody's. */
const planned = (memory: MachineStatus, { snapshot: { desired }, releaseID }: Told): MachineStatus => {
  if (memory.initialization?.provisioned !== true || desired.kind !== 'known') return memory;
  const { plannedBy: _before, ...rest } = memory;
  return { ...rest, ...(releaseID !== undefined && { plannedBy: releaseID }) };
};

/**
 * The fleet decides by these who is outdated. What was pushed last stays while it is what the Mac shall have: an agent that does not
 * start with it never says so, and the one before it may be heard of for a while.
 */
const hashesOf = (
  status: MachineStatus,
  { snapshot: { desired, node, restMs } }: Told,
): Pick<MachineStatus, 'hostConfigHash' | 'desiredHostConfigHash'> => {
  if (status.initialization?.provisioned !== true) return {};
  const wanted = desired.kind === 'known' ? desired.hash : undefined;
  const pushed = status.hostConfigHash;
  const { leftOut } = status;
  const isWanted = pushed === wanted || (leftOut?.desired === wanted && leftOut?.actual === pushed);
  const actual = pushed !== undefined && isWanted ? pushed : actualHash({ node, restMs }, status);
  return {
    ...(actual !== undefined && { hostConfigHash: actual }),
    ...(wanted !== undefined && { desiredHostConfigHash: wanted }),
  };
};
