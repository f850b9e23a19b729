import type { ConditionUpdate } from '@tartan/kube';
import { clusterConditions, controlPlaneConditions } from './cluster.ts';
import { macFleetConditions } from './mac-fleet.ts';
import { macHostConditions } from './mac-host.ts';
import { machineConditions } from './machine.ts';
import { runnerPoolConditions } from './runner-pool.ts';
import type { ConditionWords } from './words.ts';

/** Every condition and reason there is, by kind. */
export const conditionsByKind = {
  ScalewayAppleSiliconMachine: machineConditions,
  ScalewayAppleSiliconCluster: clusterConditions,
  ExternalControlPlane: controlPlaneConditions,
  MacHost: macHostConditions,
  MacFleet: macFleetConditions,
  RunnerPool: runnerPoolConditions,
} as const satisfies Record<string, Record<string, ConditionWords>>;

type Kinds = typeof conditionsByKind;
export type ConditionType<Kind extends keyof Kinds> = keyof Kinds[Kind] & string;
export type ConditionReason<Kind extends keyof Kinds, Type extends ConditionType<Kind>> = Kinds[Kind][Type] extends {
  reasons: infer Reasons;
}
  ? keyof Reasons & string
  : never;

/** A condition for `setCondition`. Its status follows from its reason; without a message it says what the reason means. */
export const say = <Kind extends keyof Kinds, Type extends ConditionType<Kind>>(
  kind: Kind,
  type: Type,
  reason: ConditionReason<Kind, Type>,
  message?: string,
): ConditionUpdate => {
  const words: Readonly<Record<string, ConditionWords>> = conditionsByKind[kind];
  const [status, means] = words[type]?.reasons[reason] ?? ['Unknown', ''];
  return { type, status, reason, message: message ?? means };
};
