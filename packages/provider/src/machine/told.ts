import { type ConditionReason, type ConditionType, type MachineStatus, say as sayOf } from '@tartan/api';
import type { ConditionUpdate } from '@tartan/kube';
import type { Decision } from './decision.ts';
import type { Result } from './result.ts';
import type { Snapshot } from './snapshot.ts';

type Kind = 'ScalewayAppleSiliconMachine';

/** What was found, what was decided, and what came of it. */
export interface Told {
  readonly snapshot: Snapshot;
  readonly decision: Decision;
  readonly result: Result;
  /** Of the Mac, as Scaleway says. */
  readonly ip: string | undefined;
  readonly nodeAddresses: NonNullable<MachineStatus['addresses']>;
  /** That of this manager. */
  readonly releaseID: string | undefined;
}

export const say = <Type extends ConditionType<Kind>>(
  type: Type,
  reason: ConditionReason<Kind, Type>,
  message?: string,
): ConditionUpdate => sayOf<Kind, Type>('ScalewayAppleSiliconMachine', type, reason, message);
