import { events, type EventReason, type MacFleet, type MacFleetStatus } from '@tartan/api';
import { type Condition, type ConditionUpdate, type Happening, type Live, setCondition } from '@tartan/kube';
import type { Decision, Snapshot } from './decide.ts';
import { isUpdated, type MachineFacts, takesPart } from './machine-facts.ts';
import { rememberedAs } from './memory.ts';
import { type Counts, rollingOf, stalledOf } from './conditions.ts';
import { readyOf } from './ready.ts';
import { sentence } from './words.ts';

type Roll = Extract<Decision, { kind: 'roll' }>;

export const countsOf = ({ machines, desired }: Snapshot): Counts => {
  const there = machines.filter(({ deleting }) => !deleting);
  return {
    desired,
    existing: there.length,
    ready: there.filter(({ ready }) => ready).length,
    updated: there.filter((machine) => takesPart(machine) && isUpdated(machine)).length,
  };
};

const longestTurnOf = 4096;

/** Who has a turn, and what it does with it. */
const turnOf = ({ memory }: Roll, machines: readonly MachineFacts[]): string => {
  const notes = memory.turns.map(({ machine, uid, canary, rollBack }) => {
    const waits = machines.some((facts) => facts.uid === uid && facts.waitingForIdle);
    const note = [canary && 'canary', rollBack && 'rolls back', waits && 'waits until it is idle'].filter(Boolean);
    return note.length > 0 ? `${machine} (${note.join(', ')})` : machine;
  });
  const text = notes.join(', ');
  return text.length > longestTurnOf ? `${text.slice(0, longestTurnOf - 1)}…` : text;
};

/** All that users see of a fleet. `observedGeneration` each time, or kstatus takes what is said for old. */
export const statusOf = ({ metadata, status }: Live<MacFleet>, snapshot: Snapshot, roll: Roll): MacFleetStatus => {
  const observedGeneration = metadata.generation ?? 0;
  const counts = countsOf(snapshot);
  const updates: ConditionUpdate[] = [
    readyOf(snapshot, roll, counts),
    rollingOf(snapshot, roll, counts),
    stalledOf(snapshot, roll),
  ];
  const turns = turnOf(roll, snapshot.machines);
  return {
    observedGeneration,
    ...counts,
    ...rememberedAs(roll.memory),
    ...(turns !== '' && { turnOf: turns }),
    conditions: updates.reduce<readonly Condition[]>(
      (conditions, update) => setCondition(conditions, { ...update, observedGeneration }, snapshot.now),
      status?.conditions ?? [],
    ),
  };
};

/** What has begun or ended with this write. Only whoever wrote it tells, so each is told once, however many managers there are. */
export const happeningsOf = (before: MacFleetStatus | undefined, after: MacFleetStatus): Happening[] => {
  const same = before?.revision === after.revision;
  const { existing = 0, updated = 0, stop } = after;
  const started = after.rollStartedAt !== undefined && !(same && before?.rollStartedAt !== undefined);
  const finished = same && before?.rollStartedAt !== undefined && after.rollStartedAt === undefined;
  const stopped = stop !== undefined && before?.stop?.at !== stop.at;
  return [
    ...(started
      ? [happening('RollStarted', `${updated} of ${existing} are up to date. First: ${after.turnOf ?? ''}`)]
      : []),
    ...(finished ? [happening('RollFinished', `${updated} of ${existing} are up to date.`)] : []),
    ...(stopped ? [happening('RollStopped', `${stop.reason} on ${stop.machine}: ${sentence(stop.message)}`)] : []),
  ];
};

const happening = (reason: EventReason, detail: string): Happening => {
  const [type, means] = events[reason];
  return { type, reason, message: `${means} ${detail}` };
};
