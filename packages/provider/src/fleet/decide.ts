import { isDeepStrictEqual } from 'node:util';
import { timestamp } from '@tartan/kube/clock';
import { omitUndefined } from '../omit-undefined.ts';
import { candidatesFor, grantTurns, renewTurns } from './grant-turns.ts';
import {
  continueTurn,
  isOutdated,
  isReadyAndUpdated,
  isRollable,
  type JudgedTurn,
  judgeTurn,
  type Limits,
  type MachineFacts,
} from './judge-turn.ts';
import { decideScaling, type DeploymentFacts, type Scaling, type WantedMachines } from './machine-deployments.ts';
import type { fleetFacts } from './observe.ts';
import type { RollRecord, Turn } from './turns.ts';

export interface Snapshot extends WantedMachines {
  /** Undefined: the MacFleet does not exist. */
  fleet: FleetFacts | undefined;
  machines: readonly MachineFacts[];
  /** Undefined: it does not exist, or is being deleted. */
  deployment: DeploymentFacts | undefined;
  /** Revision of what all Macs of the fleet should have in common. */
  revision: string;
  /** That of this manager. It affects only what is reported. */
  releaseID: string | undefined;
  now: number;
  limits: Limits;
}

export type FleetFacts = Readonly<ReturnType<typeof fleetFacts>>;

export type RollState =
  | 'upToDate'
  | 'canary'
  | 'wave'
  | 'waitingForMachines'
  | 'maxUnavailableReached'
  | 'paused'
  | 'stalled';

export type Decision =
  | { kind: 'skip'; reason: 'deleting' | 'notNeeded' }
  | { kind: 'create' }
  | { kind: 'delete' }
  /** `rollRecord` is written to the status, which grants and ends turns. Then the MachineDeployment is scaled, if `scaling` is set. */
  | { kind: 'roll'; state: RollState; rollRecord: RollRecord; scaling: Scaling | undefined };

/** What to do for a fleet. All that is known of a roll is in the snapshot, so two managers with the same snapshot decide alike. */
export const decide = (snapshot: Snapshot): Decision => {
  const { fleet, machines, desired } = snapshot;
  const needed = machines.length > 0 || desired > 0;
  if (fleet === undefined) return needed ? { kind: 'create' } : { kind: 'skip', reason: 'notNeeded' };
  if (fleet.deleting) return { kind: 'skip', reason: 'deleting' };
  if (fleet.ours && !needed) return { kind: 'delete' };
  return roll(snapshot, fleet);
};

const roll = (snapshot: Snapshot, fleet: FleetFacts): Decision => {
  const { machines, revision, now } = snapshot;
  const { rollRecord } = fleet;
  const judged = rollRecord.turns.map((turn) => judge(turn, snapshot, fleet));
  const stop = currentStop(judged, snapshot, rollRecord);
  const proved = judged.some(({ turn, verdict }) => verdict === 'done' && turn.revision === revision);
  // Other machines may fail like the one that caused the stop: after a stop, a canary goes first again.
  const proven = stop === undefined && (proved || rollRecord.provenRevision === revision);
  const kept = judged.flatMap((each) => continueTurn(each, now));
  const passedOver = passedOverOf(judged, snapshot, rollRecord);

  const mayGrant = !fleet.paused && stop === undefined && !judged.some(({ verdict }) => verdict === 'failing');
  const grants = { ...snapshot, turns: kept, passedOver, proven, maxUnavailable: fleet.maxUnavailable };
  const stranded = judged.filter(({ verdict }) => verdict === 'stranded').map(({ turn }) => turn);
  const renewed = mayGrant ? renewTurns(stranded, grants) : [];
  const turns = kept.map((turn) => renewed.find(({ uid }) => uid === turn.uid) ?? turn);
  const granted = mayGrant ? grantTurns({ ...grants, turns }) : [];
  const given = [...renewed, ...granted];
  const all = [...turns, ...granted].sort((a, b) => (a.machine < b.machine ? -1 : 1));

  const finished = all.length === 0 && !machines.some(isOutdated);
  const startedAt = rollRecord.revision === revision ? rollRecord.rollStartedAt : undefined;
  return {
    kind: 'roll',
    state: rollStateOf(omitUndefined({ stop, turns: all }), {
      proven,
      finished,
      paused: fleet.paused,
      hasCandidates: mayGrant && candidatesFor({ ...grants, turns }).length > 0,
    }),
    scaling: decideScaling(fleet.replicas, snapshot.deployment),
    rollRecord: omitUndefined({
      revision,
      provenRevision: proven ? revision : undefined,
      rollStartedAt: finished ? undefined : (startedAt ?? (given.length > 0 ? timestamp(now) : undefined)),
      stalledRevision: stop && revision,
      stop,
      turns: all,
      passedOver: passedOverAfterGrants(passedOver, given, snapshot),
    }),
  };
};

/** Whether the decision does more than to report: it must be taken again on live reads. */
export const isChange = ({ fleet }: Pick<Snapshot, 'fleet'>, decision: Decision): boolean => {
  if (decision.kind !== 'roll') return decision.kind !== 'skip';
  return decision.scaling !== undefined || !isDeepStrictEqual(fleet?.rollRecord, decision.rollRecord);
};

/** The machines that have a turn, before or after the decision. */
export const machinesWithTurn = ({ fleet }: Pick<Snapshot, 'fleet'>, decision: Decision): readonly string[] => {
  const granted = decision.kind === 'roll' ? decision.rollRecord.turns : [];
  return [...new Set([...(fleet?.rollRecord.turns ?? []), ...granted].map(({ machine }) => machine))];
};

const judge = (turn: Turn, { machines, revision, now, limits }: Snapshot, fleet: FleetFacts): JudgedTurn => {
  const machine = machines.find(({ uid }) => uid === turn.uid);
  const rules = { now, revision, gateDeadlineMs: fleet.gateDeadlineMs, limits };
  return { turn, machine, verdict: judgeTurn(turn, machine, wasPassedOver(fleet.rollRecord, turn.uid), rules) };
};

const rollStateOf = (
  { stop, turns }: Pick<RollRecord, 'stop' | 'turns'>,
  facts: { proven: boolean; finished: boolean; paused: boolean; hasCandidates: boolean },
): RollState => {
  const { proven, finished, paused, hasCandidates } = facts;
  if (stop) return 'stalled';
  if (turns.length > 0) return proven ? 'wave' : 'canary';
  if (finished) return 'upToDate';
  if (paused) return 'paused';
  return hasCandidates ? 'maxUnavailableReached' : 'waitingForMachines';
};

/** The current stop, unless it is lifted; otherwise the first new one. */
const currentStop = (
  judged: readonly JudgedTurn[],
  { machines, revision, now, limits }: Snapshot,
  rollRecord: RollRecord,
): RollRecord['stop'] => {
  const { stop, stalledRevision } = rollRecord;
  const isOver = stop && limits.retryAfterMs !== undefined && now - Date.parse(stop.at) >= limits.retryAfterMs;
  const isMoot =
    rollRecord.turns.length === 0 && machines.every((machine) => !isRollable(machine) || isReadyAndUpdated(machine));
  if (stop && stalledRevision === revision && !isOver && !isMoot) return stop;
  const [first] = judged.flatMap(({ turn, machine, verdict }) =>
    verdict === 'rejected' || verdict === 'late' ? [{ turn, machine, verdict }] : [],
  );
  if (first === undefined) return undefined;
  const { turn, machine, verdict } = first;
  const rejected = verdict === 'rejected';
  return {
    reason: rejected ? ('PushRejected' as const) : ('GateDeadlineExceeded' as const),
    machine: turn.machine,
    message: machine?.failureMessage ?? (rejected ? 'It refused what was sent to it.' : 'It is not Ready.'),
    at: timestamp(now),
  };
};

type PassedOver = RollRecord['passedOver'];

const wasPassedOver = ({ passedOver }: Pick<RollRecord, 'passedOver'>, uid: string): boolean =>
  passedOver.some((entry) => entry.uid === uid);

/** Adds machines that missed their turn, and removes those that are ready and updated, or gone. */
const passedOverOf = (
  judged: readonly JudgedTurn[],
  { machines, now }: Snapshot,
  rollRecord: RollRecord,
): PassedOver => {
  const added = judged
    .filter((each) => missedTurn(each, now))
    .map(({ turn: { machine, uid } }) => ({ machine, uid, at: timestamp(now) }));
  return [...rollRecord.passedOver.filter(({ uid }) => !added.some((entry) => entry.uid === uid)), ...added].filter(
    ({ uid }) => machines.some((machine) => machine.uid === uid && isRollable(machine) && !isReadyAndUpdated(machine)),
  );
};

const missedTurn = (each: JudgedTurn, now: number): boolean =>
  each.verdict === 'passedOver' || (continueTurn(each, now).length === 0 && each.machine?.ready === false);

/** A turn removes the mark of a ready machine. One that is down stays marked, so that its failures do not stop the roll. */
const passedOverAfterGrants = (
  passedOver: PassedOver,
  given: readonly Turn[],
  { machines, now }: Snapshot,
): PassedOver => {
  const isDown = (uid: string): boolean => machines.some((machine) => machine.uid === uid && !machine.ready);
  const others = passedOver.filter((entry) => !given.some(({ uid }) => uid === entry.uid));
  const down = given.filter(({ uid }) => isDown(uid)).map(({ machine, uid }) => ({ machine, uid, at: timestamp(now) }));
  return [...others, ...down].sort((a, b) => (a.machine < b.machine ? -1 : 1));
};
