import { buildDetailedEvent, type MacFleet, type MacFleetStatus } from '@tartan/api';
import { type EventInput, type Live, setConditions } from '@tartan/kube';
import { asSentence, type Counts, readyCondition, rollingCondition, stalledCondition } from './conditions.ts';
import type { Decision, Snapshot } from './decide.ts';
import { isRollable, isUpdated, type MachineFacts } from './judge-turn.ts';
import { rollRecordToStatus } from './turns.ts';

type Roll = Extract<Decision, { kind: 'roll' }>;

/** Makes no copies of the machines: every pass counts, and a fleet may be large. */
export const countsOf = ({ machines, desired }: Snapshot): Counts => {
  const counts = { desired, existing: 0, ready: 0, updated: 0 };
  for (const machine of machines) {
    if (machine.deleting) continue;
    counts.existing += 1;
    if (machine.ready) counts.ready += 1;
    if (isRollable(machine) && isUpdated(machine)) counts.updated += 1;
  }
  return counts;
};

const maxTurnSummary = 4096;

/** The machines with a turn, and what they do. */
const turnSummary = ({ rollRecord }: Roll, machines: readonly MachineFacts[]): string => {
  const notes = rollRecord.turns.map(({ machine, uid, canary, rollBack }) => {
    const waits = machines.some((facts) => facts.uid === uid && facts.waitingForIdle);
    const note = [canary && 'canary', rollBack && 'rolls back', waits && 'waits until it is idle'].filter(Boolean);
    return note.length > 0 ? `${machine} (${note.join(', ')})` : machine;
  });
  const text = notes.join(', ');
  return text.length > maxTurnSummary ? `${text.slice(0, maxTurnSummary - 1)}…` : text;
};

/** All that users see of a fleet. Sets `observedGeneration` each time, or kstatus treats the status as outdated. */
export const statusOf = ({ metadata, status }: Live<MacFleet>, snapshot: Snapshot, roll: Roll): MacFleetStatus => {
  const observedGeneration = metadata.generation ?? 0;
  const counts = countsOf(snapshot);
  const updates = [
    readyCondition(snapshot, roll, counts),
    rollingCondition(snapshot, roll, counts),
    stalledCondition(snapshot, roll),
  ];
  const turns = turnSummary(roll, snapshot.machines);
  return {
    observedGeneration,
    ...counts,
    ...rollRecordToStatus(roll.rollRecord),
    ...(turns !== '' && { turnOf: turns }),
    conditions: setConditions(status?.conditions, updates, observedGeneration, snapshot.now),
  };
};

/** Events for what this write started or ended. Only the manager that wrote it sends them, so each is sent once. */
export const rollEvents = (before: MacFleetStatus | undefined, after: MacFleetStatus): EventInput[] => {
  const same = before?.revision === after.revision;
  const { existing = 0, updated = 0, stop } = after;
  const started = after.rollStartedAt !== undefined && !(same && before?.rollStartedAt !== undefined);
  const finished = same && before?.rollStartedAt !== undefined && after.rollStartedAt === undefined;
  const stopped = stop !== undefined && before?.stop?.at !== stop.at;
  return [
    ...(started
      ? [buildDetailedEvent('RollStarted', `${updated} of ${existing} are up to date. First: ${after.turnOf ?? ''}`)]
      : []),
    ...(finished ? [buildDetailedEvent('RollFinished', `${updated} of ${existing} are up to date.`)] : []),
    ...(stopped
      ? [buildDetailedEvent('RollStopped', `${stop.reason} on ${stop.machine}: ${asSentence(stop.message)}`)]
      : []),
  ];
};
