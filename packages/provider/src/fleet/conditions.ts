import { say } from '@tartan/api';
import type { ConditionUpdate } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { Decision, RollState, Snapshot } from './decide.ts';
import { speaksFor } from './named-manager.ts';
import { isOutdated, type MachineFacts } from './machine-facts.ts';
import { named, sentence } from './words.ts';

type Roll = Extract<Decision, { kind: 'roll' }>;

export interface Counts {
  desired: number;
  existing: number;
  ready: number;
  updated: number;
}

export const progress = ({ updated, existing }: Counts): string => `${updated} of ${existing} are up to date.`;

const reasons = {
  upToDate: 'UpToDate',
  canary: 'Canary',
  wave: 'Wave',
  waitingForMachines: 'WaitingForMachines',
  paused: 'Paused',
  stalled: 'Stalled',
} as const satisfies Record<RollState, string>;

export const rollingOf = (snapshot: Snapshot, roll: Roll, counts: Counts): ConditionUpdate => {
  const { state } = roll;
  const details = [
    progress(counts),
    state === 'stalled' ? '' : whoHasATurn(roll),
    whoIsLeft(snapshot, roll),
    whoWasPassedOver(roll),
  ];
  const message = state === 'upToDate' ? undefined : details.filter(Boolean).join(' ');
  return say('MacFleet', 'Rolling', reasons[state], message);
};

/**
 * True only after a stop: `helm --wait` fails at once when it is. So a manager that is about to be replaced does not say it: what an
 * upgrade brings is often what helps.
 */
export const stalledOf = (snapshot: Snapshot, roll: Roll): ConditionUpdate => {
  const { stop, stalledRevision } = roll.memory;
  if (stop === undefined) return say('MacFleet', 'Stalled', 'NotStalled');
  if (!speaksFor(snapshot)) return say('MacFleet', 'Stalled', 'WaitingForManager', whyStopped(roll));
  const { limits } = snapshot;
  const again =
    limits.retryAfterMs === undefined
      ? ''
      : ` It is tried again at ${timestamp(Date.parse(stop.at) + limits.retryAfterMs)}, and`;
  const next = again === '' ? ' Another revision starts it again.' : `${again} when there is another revision.`;
  return say('MacFleet', 'Stalled', stop.reason, `${whyStopped(roll)} Revision ${stalledRevision ?? ''}.${next}`);
};

export const whyStopped = ({ memory: { stop, turns } }: Roll): string => {
  if (stop === undefined) return '';
  const back = turns.filter(({ rollBack }) => rollBack).map(({ machine }) => machine);
  const what = stop.reason === 'PushRejected' ? 'refused' : 'was not Ready in time';
  return `${stop.machine} ${what}: ${sentence(stop.message)}${back.length > 0 ? ` Being rolled back: ${named(back)}.` : ''}`;
};

export const whoHasATurn = ({ memory: { turns } }: Roll): string =>
  turns.length > 0 ? `Being rolled: ${named(turns.map(({ machine }) => machine))}.` : '';

/** Each with what keeps it. */
export const whoIsLeft = ({ machines }: Snapshot, { memory: { turns } }: Roll): string => {
  const left = machines.filter((machine) => isOutdated(machine) && !turns.some(({ uid }) => uid === machine.uid));
  const words = left.map((machine) => `${machine.name}${whatKeeps(machine)}`).sort((a, b) => (a < b ? -1 : 1));
  return words.length > 0 ? `To be rolled: ${named(words)}.` : '';
};

const whatKeeps = ({ ready, paused, failed, desired, unreachable }: MachineFacts): string => {
  if (paused) return ' (paused)';
  if (!ready) return ' (not Ready)';
  if (failed !== undefined && failed === desired) return ' (has refused)';
  return unreachable ? ' (does not answer)' : '';
};

const whoWasPassedOver = ({ memory: { passedOver, turns } }: Roll): string => {
  const names = passedOver.filter(({ uid }) => !turns.some((turn) => turn.uid === uid)).map(({ machine }) => machine);
  return names.length > 0 ? `Could not be rolled in their turn: ${named(names)}.` : '';
};
