import { timestamp } from '@tartan/kube/clock';
import { newTurns, renewTurns } from './grant-turns.ts';
import { judgeTurn, type Limits } from './judge-turn.ts';
import { type Judged, keep } from './judged.ts';
import { isOutdated, type MachineFacts } from './machine-facts.ts';
import type { Memory } from './memory.ts';
import { afterGrants, passedOverOf, wasPassedOver } from './passed-over.ts';
import { type DeploymentFacts, decideScaling, type Scaling } from './scale.ts';
import { stopOf } from './stop.ts';
import type { Turn } from './turn.ts';
import type { WantedMachines } from './wanted-machines.ts';

export interface Snapshot extends WantedMachines {
  /** Undefined: there is no MacFleet of that name. */
  fleet: FleetFacts | undefined;
  machines: readonly MachineFacts[];
  /** Undefined: there is none of that name, or it is being deleted. */
  deployment: DeploymentFacts | undefined;
  /** What all Macs of the fleet shall have in common. */
  revision: string;
  /** That of this manager. It changes what is said, and nothing that is done. */
  releaseID: string | undefined;
  now: number;
  limits: Limits;
}

export interface FleetFacts {
  /** We made it, and nobody else cares for it. */
  ours: boolean;
  deleting: boolean;
  paused: boolean;
  replicas: number | undefined;
  maxUnavailable: number;
  gateDeadlineMs: number;
  waitForMacs: boolean;
  /** The release of the manager that shall speak for it; undefined: any may. */
  releaseID: string | undefined;
  memory: Memory;
}

export type RollState = 'upToDate' | 'canary' | 'wave' | 'waitingForMachines' | 'paused' | 'stalled';

export type Decision =
  | { kind: 'leave'; because: 'deleting' | 'nobodyThere' }
  | { kind: 'create' }
  | { kind: 'delete' }
  /** To be remembered; with it turns are given and taken. Then the MachineDeployment is scaled, if it is to be. */
  | { kind: 'roll'; state: RollState; memory: Memory; scaling: Scaling | undefined };

/** What is to be done for a fleet. All that is known of a roll is in the snapshot, so two managers with the same one say the same. */
export const decide = (snapshot: Snapshot): Decision => {
  const { fleet, machines, desired } = snapshot;
  const needed = machines.length > 0 || desired > 0;
  if (fleet === undefined) return needed ? { kind: 'create' } : { kind: 'leave', because: 'nobodyThere' };
  if (fleet.deleting) return { kind: 'leave', because: 'deleting' };
  if (fleet.ours && !needed) return { kind: 'delete' };
  return roll(snapshot, fleet);
};

const roll = (snapshot: Snapshot, fleet: FleetFacts): Decision => {
  const { machines, revision, now } = snapshot;
  const { memory } = fleet;
  const judged = memory.turns.map((turn) => judge(turn, snapshot, fleet));
  const stop = stopOf(judged, snapshot, memory);
  const proved = judged.some(({ turn, verdict }) => verdict === 'done' && turn.revision === revision);
  // Whoever stopped may have been the first of many: after a stop, one goes alone again.
  const proven = stop === undefined && (proved || memory.provenRevision === revision);
  const kept = judged.flatMap((each) => keep(each, now));
  const passedOver = passedOverOf(judged, snapshot, memory);

  const free = !fleet.paused && stop === undefined && !judged.some(({ verdict }) => verdict === 'failing');
  const grants = { ...snapshot, turns: kept, passedOver, proven, maxUnavailable: fleet.maxUnavailable };
  const stranded = judged.filter(({ verdict }) => verdict === 'stranded').map(({ turn }) => turn);
  const renewed = free ? renewTurns(stranded, grants) : [];
  const turns = kept.map((turn) => renewed.find(({ uid }) => uid === turn.uid) ?? turn);
  const granted = free ? newTurns({ ...grants, turns }) : [];
  const given = [...renewed, ...granted];
  const all = [...turns, ...granted].sort((a, b) => (a.machine < b.machine ? -1 : 1));

  const finished = all.length === 0 && !machines.some(isOutdated);
  const startedAt = memory.revision === revision ? memory.rollStartedAt : undefined;
  return {
    kind: 'roll',
    state: stateOf({ stop, turns: all, proven, finished, paused: fleet.paused }),
    scaling: decideScaling(fleet.replicas, snapshot.deployment),
    memory: {
      revision,
      provenRevision: proven ? revision : undefined,
      rollStartedAt: finished ? undefined : (startedAt ?? (given.length > 0 ? timestamp(now) : undefined)),
      stalledRevision: stop && revision,
      stop,
      turns: all,
      passedOver: afterGrants(passedOver, given, snapshot),
    },
  };
};

const judge = (turn: Turn, { machines, revision, now, limits }: Snapshot, fleet: FleetFacts): Judged => {
  const machine = machines.find(({ uid }) => uid === turn.uid);
  const rules = { now, revision, gateDeadlineMs: fleet.gateDeadlineMs, limits };
  return { turn, machine, verdict: judgeTurn(turn, machine, wasPassedOver(fleet.memory, turn.uid), rules) };
};

interface Outlook {
  stop: Memory['stop'];
  turns: readonly Turn[];
  proven: boolean;
  finished: boolean;
  paused: boolean;
}

const stateOf = ({ stop, turns, proven, finished, paused }: Outlook): RollState => {
  if (stop) return 'stalled';
  if (turns.length > 0) return proven ? 'wave' : 'canary';
  if (finished) return 'upToDate';
  return paused ? 'paused' : 'waitingForMachines';
};
