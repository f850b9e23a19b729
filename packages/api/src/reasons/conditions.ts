import type { ConditionUpdate } from '@tartan/kube';
import {
  clusterConditions,
  type ConditionDefinition,
  controlPlaneConditions,
  machineConditions,
} from './capi-conditions.ts';
import { macFleetConditions, macHostConditions } from './fleet-conditions.ts';
import { runnerPoolConditions } from './runner-pool-conditions.ts';

/** Every condition and reason there is, by kind. */
export const conditionsByKind = {
  ScalewayAppleSiliconMachine: machineConditions,
  ScalewayAppleSiliconCluster: clusterConditions,
  ExternalControlPlane: controlPlaneConditions,
  MacHost: macHostConditions,
  MacFleet: macFleetConditions,
  RunnerPool: runnerPoolConditions,
} as const satisfies Record<string, Record<string, ConditionDefinition>>;

type Kinds = typeof conditionsByKind;
export type ConditionType<Kind extends keyof Kinds> = keyof Kinds[Kind] & string;
export type ConditionReason<Kind extends keyof Kinds, Type extends ConditionType<Kind>> = Kinds[Kind][Type] extends {
  reasons: infer Reasons;
}
  ? keyof Reasons & string
  : never;

/** A condition for `setCondition`. Its status follows from its reason; the default message is the meaning of the reason. */
export const buildCondition = <Kind extends keyof Kinds, Type extends ConditionType<Kind>>(
  kind: Kind,
  type: Type,
  reason: ConditionReason<Kind, Type>,
  message?: string,
): ConditionUpdate => {
  const words: Readonly<Record<string, ConditionDefinition>> = conditionsByKind[kind];
  const [status, means] = words[type]?.reasons[reason] ?? ['Unknown', ''];
  return { type, status, reason, message: message ?? means };
};
