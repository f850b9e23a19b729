import { type ConditionReason, say } from '@tartan/api';
import type { ConditionUpdate } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { Decision, RollState, Snapshot } from './decide.ts';
import { isOutdated, type MachineFacts } from './machine-facts.ts';
import { counted, named, sentence } from './words.ts';

type Roll = Extract<Decision, { kind: 'roll' }>;

export interface Counts {
  desired: number;
  existing: number;
  ready: number;
  updated: number;
}

const ready = (reason: ConditionReason<'MacFleet', 'Ready'>, message?: string): ConditionUpdate =>
  say('MacFleet', 'Ready', reason, message);

const namesOf = (machines: readonly MachineFacts[]): string[] => machines.map(({ name }) => name).sort();
const notReady = ({ machines }: Snapshot): MachineFacts[] =>
  machines.filter(({ ready, deleting }) => !ready && !deleting);

const progress = ({ updated, existing }: Counts): string => `${updated} of ${existing} are up to date.`;

/** Ready is for whoever waits for the whole fleet, `helm --wait` above all: what keeps it waiting comes first. */
export const readyOf = (snapshot: Snapshot, roll: Roll, counts: Counts): ConditionUpdate => {
  const { desired, existing } = counts;
  const down = namesOf(notReady(snapshot));
  switch (roll.state) {
    case 'stalled':
      return ready('Stalled', `${progress(counts)} ${whyStopped(roll)}`);
    case 'paused':
      return ready('Paused', `${progress(counts)} ${whoIsLeft(snapshot, roll)} Unset spec.paused to go on.`);
    case 'canary':
    case 'wave':
      return ready('Rolling', `${progress(counts)} ${whoHasATurn(roll)} ${whoIsLeft(snapshot, roll)}`.trim());
    case 'waitingForMachines':
      return down.length > 0
        ? ready('MachinesNotReady', `${progress(counts)} Not Ready: ${named(down)}.`)
        : ready('Rolling', `${progress(counts)} ${whoIsLeft(snapshot, roll)}`);
    case 'upToDate':
      if (existing < desired)
        return ready(
          'MachinesMissing',
          `${counted(desired)} are wanted and ${existing} there. Look at the MachineDeployment and its template.`,
        );
      return down.length > 0 ? ready('MachinesNotReady', `Not Ready: ${named(down)}.`) : ready('UpToDate');
  }
};

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

/** True only after a stop: `helm --wait` fails at once when it is. */
export const stalledOf = ({ limits }: Snapshot, roll: Roll): ConditionUpdate => {
  const { stop, stalledRevision } = roll.memory;
  if (stop === undefined) return say('MacFleet', 'Stalled', 'NotStalled');
  const again =
    limits.retryAfterMs === undefined
      ? ''
      : ` It is tried again at ${timestamp(Date.parse(stop.at) + limits.retryAfterMs)}, and`;
  const next = again === '' ? ' Another revision starts it again.' : `${again} when there is another revision.`;
  return say('MacFleet', 'Stalled', stop.reason, `${whyStopped(roll)} Revision ${stalledRevision ?? ''}.${next}`);
};

const whyStopped = ({ memory: { stop, turns } }: Roll): string => {
  if (stop === undefined) return '';
  const back = turns.filter(({ rollBack }) => rollBack).map(({ machine }) => machine);
  const what = stop.reason === 'PushRejected' ? 'refused' : 'was not Ready in time';
  return `${stop.machine} ${what}: ${sentence(stop.message)}${back.length > 0 ? ` Being rolled back: ${named(back)}.` : ''}`;
};

const whoHasATurn = ({ memory: { turns } }: Roll): string =>
  turns.length > 0 ? `Being rolled: ${named(turns.map(({ machine }) => machine))}.` : '';

/** Each with what keeps it. */
const whoIsLeft = ({ machines }: Snapshot, { memory: { turns } }: Roll): string => {
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
