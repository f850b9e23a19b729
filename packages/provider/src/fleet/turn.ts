import type { MacFleet, MacFleetStatus } from '@tartan/api';

export type Turn = NonNullable<MacFleetStatus['turns']>[number];

/**
 * The turn with which a machine may push `hash` to its Mac, or roll it back when the turn says so; undefined when it has none. Ask it of a
 * MacFleet that was read uncached right before the push. A turn to roll back is good whatever the machine wants by now: what it broke
 * is put right first.
 */
export const findTurn = (fleet: Pick<MacFleet, 'status'>, uid: string, hash: string | undefined): Turn | undefined =>
  fleet.status?.turns?.find((turn) => turn.uid === uid && (turn.rollBack === true || turn.hash === hash));
