import type { MacFleet, MacFleetStatus } from '@tartan/api';
import type { Machine } from '../controller-deps.ts';
import { omitUndefined } from '../omit-undefined.ts';

export type Turn = NonNullable<MacFleetStatus['turns']>[number];

/**
 * The turn with which a machine may push `hash` to its Mac, or roll back if the turn says so; undefined: it has none. The MacFleet must be
 * read uncached right before the push. A turn to roll back is valid whatever the desired hash is now: the damage is repaired first.
 */
export const findTurn = (fleet: Pick<MacFleet, 'status'>, uid: string, hash: string | undefined): Turn | undefined =>
  fleet.status?.turns?.find((turn) => turn.uid === uid && (turn.rollBack === true || turn.hash === hash));

/** The MacFleet of a machine, in its namespace. A machine without `fleetName` is a fleet of its own, so that it can be rolled too. */
export const fleetNameOf = ({ metadata, spec }: Machine): string => spec.fleetName || metadata.name;

/**
 * The progress of a roll as the status records it, written before the push that it allows. Losing it costs another canary, never a
 * Mac.
 */
export interface RollRecord
  extends Pick<MacFleetStatus, 'revision' | 'provenRevision' | 'rollStartedAt' | 'stalledRevision' | 'stop'> {
  readonly turns: readonly Turn[];
  /**
   * Machines whose turn ended before they were updated. They wait a while, and go last. The list also tells a Mac that went down during its
   * turn from one that was down before: the former may have received half of a push, so it gets another turn though it is not Ready.
   */
  readonly passedOver: NonNullable<MacFleetStatus['passedOver']>;
}

export const rollRecordFromStatus = (status: Partial<MacFleetStatus> = {}): RollRecord => {
  const { revision, provenRevision, rollStartedAt, stalledRevision, stop, turns = [], passedOver = [] } = status;
  return omitUndefined({ revision, provenRevision, rollStartedAt, stalledRevision, stop, turns, passedOver });
};

export const rollRecordToStatus = ({
  turns,
  passedOver,
  ...rest
}: RollRecord): Pick<MacFleetStatus, keyof RollRecord> => ({
  ...rest,
  ...(turns.length > 0 && { turns }),
  ...(passedOver.length > 0 && { passedOver }),
});
