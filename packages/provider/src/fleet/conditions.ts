import { buildCondition, type ConditionReason } from '@tartan/api';
import type { ConditionUpdate } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { formatNameList } from '../format-name-list.ts';
import type { Decision, RollState, Snapshot } from './decide.ts';
import { isOutdated, isRollable, isUnavailable, type MachineFacts } from './judge-turn.ts';

type Roll = Extract<Decision, { kind: 'roll' }>;

const readyBecause = (reason: ConditionReason<'MacFleet', 'Ready'>, message?: string): ConditionUpdate =>
  buildCondition('MacFleet', 'Ready', reason, message);

const namesOf = (machines: readonly MachineFacts[]): string[] => machines.map(({ name }) => name).sort();
const notReady = ({ machines }: Snapshot): MachineFacts[] =>
  machines.filter(({ ready, deleting }) => !ready && !deleting);

/** Ready is for clients that wait for the whole fleet, above all `helm --wait`. Reasons to wait come first. */
export const readyCondition = (snapshot: Snapshot, roll: Roll, counts: Counts): ConditionUpdate => {
  if (!isNamedManager(snapshot)) return readyBecause('WaitingForManager', awaitedManagerMessage(snapshot, counts));
  if (snapshot.deploymentPending || roll.scaling?.replicas !== undefined)
    return readyBecause('WaitingForMachineDeployment');
  switch (roll.state) {
    case 'stalled':
      return readyBecause('Stalled', `${progress(counts)} ${stopMessage(roll)}`);
    case 'paused':
      return readyBecause(
        'Paused',
        `${progress(counts)} ${outdatedMessage(snapshot, roll)} Unset spec.paused and spec.pausedByRelease (rollout.paused of the chart), and remove the annotation cluster.x-k8s.io/paused, to go on.`,
      );
    case 'canary':
    case 'wave':
      return readyBecause(
        'Rolling',
        `${progress(counts)} ${turnsMessage(roll)} ${outdatedMessage(snapshot, roll)}`.trim(),
      );
    case 'waitingForMachines':
    case 'maxUnavailableReached':
      return waitingCondition(snapshot, roll, counts);
    case 'upToDate':
      return idleCondition(snapshot, counts);
  }
};

/** Machines are left to roll, but none can be rolled now. */
const waitingCondition = (snapshot: Snapshot, roll: Roll, counts: Counts): ConditionUpdate => {
  const down = namesOf(notReady(snapshot));
  const stuck = snapshot.machines.some((machine) => isOutdated(machine) && machine.ready);
  if (!waitsForMacs(snapshot))
    return stuck
      ? readyBecause('Rolling', `${progress(counts)} ${outdatedMessage(snapshot, roll)}`)
      : (unplannedCondition(snapshot, counts) ?? shortCondition(down, counts));
  return down.length > 0
    ? readyBecause('MachinesNotReady', `${progress(counts)} Not Ready: ${formatNameList(down)}.`)
    : readyBecause('Rolling', `${progress(counts)} ${outdatedMessage(snapshot, roll)}`);
};

const idleCondition = (snapshot: Snapshot, counts: Counts): ConditionUpdate => {
  const { desired, existing } = counts;
  const down = namesOf(notReady(snapshot));
  if (waitsForMacs(snapshot) && snapshot.toBeReplaced.length > 0)
    return readyBecause('Replacing', `From another template: ${formatNameList(snapshot.toBeReplaced.toSorted())}.`);
  const isShort = existing < desired || down.length > 0;
  if (!isShort || !waitsForMacs(snapshot))
    return unplannedCondition(snapshot, counts) ?? (isShort ? shortCondition(down, counts) : readyBecause('UpToDate'));
  if (existing < desired)
    return readyBecause(
      'MachinesMissing',
      `${countOf(desired)} are wanted and ${existing} there. Look at the MachineDeployment and its template.`,
    );
  return readyBecause('MachinesNotReady', `Not Ready: ${formatNameList(down)}.`);
};

const waitsForMacs = ({ fleet }: Snapshot): boolean => fleet?.waitForMacs !== false;

const shortCondition = (down: readonly string[], { desired, existing, ready: up, updated }: Counts): ConditionUpdate =>
  readyBecause(
    'ReadyButShort',
    [
      `${countOf(desired)} are wanted, ${existing} are there, ${up} Ready, ${updated} up to date.`,
      ...(down.length > 0 ? [`Not Ready: ${formatNameList(down)}.`] : []),
      'spec.waitForMacs is false.',
    ].join(' '),
  );

/** Why a fleet that looks up to date is not reported as such. */
const unplannedCondition = (snapshot: Snapshot, { updated, existing }: Counts): ConditionUpdate | undefined => {
  const unplanned = namesOf(unplannedMachines(snapshot));
  if (unplanned.length === 0) return undefined;
  const manager = `the manager of release ${snapshot.fleet?.releaseID ?? ''}`;
  return readyBecause(
    'WaitingForManager',
    `${updated} of ${existing} were up to date. Not looked at yet by ${manager}: ${formatNameList(unplanned)}.`,
  );
};

const awaitedManagerMessage = ({ fleet, releaseID }: Snapshot, { updated, existing }: Counts): string => {
  const who = releaseID === undefined ? 'a manager without --release-id' : `the manager of release ${releaseID}`;
  return `${updated} of ${existing} are up to date by ${who}. That of release ${fleet?.releaseID ?? ''} has not looked yet.`;
};

export interface Counts {
  desired: number;
  existing: number;
  ready: number;
  updated: number;
}

const progress = ({ updated, existing }: Counts): string => `${updated} of ${existing} are up to date.`;

const rollingReasons = {
  upToDate: 'UpToDate',
  canary: 'Canary',
  wave: 'Wave',
  waitingForMachines: 'WaitingForMachines',
  maxUnavailableReached: 'MaxUnavailableReached',
  paused: 'Paused',
  stalled: 'Stalled',
} as const satisfies Record<RollState, string>;

export const rollingCondition = (snapshot: Snapshot, roll: Roll, counts: Counts): ConditionUpdate => {
  const { state } = roll;
  const details = [
    progress(counts),
    state === 'stalled' ? '' : turnsMessage(roll),
    state === 'maxUnavailableReached' ? unavailableMessage(snapshot) : '',
    outdatedMessage(snapshot, roll),
    passedOverMessage(roll),
  ];
  const message = state === 'upToDate' ? undefined : details.filter(Boolean).join(' ');
  return buildCondition('MacFleet', 'Rolling', rollingReasons[state], message);
};

/**
 * True only after a stop, because `helm --wait` then fails at once. A manager that is about to be replaced does not set it: the upgrade
 * often contains the fix.
 */
export const stalledCondition = (snapshot: Snapshot, roll: Roll): ConditionUpdate => {
  const { stop, stalledRevision } = roll.rollRecord;
  if (stop === undefined) return buildCondition('MacFleet', 'Stalled', 'NotStalled');
  if (!isNamedManager(snapshot)) return buildCondition('MacFleet', 'Stalled', 'WaitingForManager', stopMessage(roll));
  const { limits } = snapshot;
  const again =
    limits.retryAfterMs === undefined
      ? ''
      : ` It is tried again at ${timestamp(Date.parse(stop.at) + limits.retryAfterMs)}, and`;
  const next = again === '' ? ' Another revision starts it again.' : `${again} when there is another revision.`;
  return buildCondition(
    'MacFleet',
    'Stalled',
    stop.reason,
    `${stopMessage(roll)} Revision ${stalledRevision ?? ''}.${next}`,
  );
};

const stopMessage = ({ rollRecord: { stop, turns } }: Roll): string => {
  if (stop === undefined) return '';
  const back = turns.filter(({ rollBack }) => rollBack).map(({ machine }) => machine);
  const what = stop.reason === 'PushRejected' ? 'refused' : 'was not Ready in time';
  return `${stop.machine} ${what}: ${asSentence(stop.message)}${back.length > 0 ? ` Being rolled back: ${formatNameList(back)}.` : ''}`;
};

const turnsMessage = ({ rollRecord: { turns } }: Roll): string =>
  turns.length > 0 ? `Being rolled: ${formatNameList(turns.map(({ machine }) => machine))}.` : '';

const unavailableMessage = ({ fleet, machines }: Snapshot): string => {
  const names = namesOf(machines.filter(isUnavailable));
  return `Not available: ${formatNameList(names)}; spec.maxUnavailable is ${fleet?.maxUnavailable ?? 0}. Repair these machines or delete them, annotate them with cluster.x-k8s.io/paused, or raise spec.maxUnavailable.`;
};

/** Each machine with what blocks it. */
const outdatedMessage = ({ machines }: Snapshot, { rollRecord: { turns } }: Roll): string => {
  const left = machines.filter((machine) => isOutdated(machine) && !turns.some(({ uid }) => uid === machine.uid));
  const words = left.map((machine) => `${machine.name}${blockedSuffix(machine)}`).sort((a, b) => (a < b ? -1 : 1));
  return words.length > 0 ? `To be rolled: ${formatNameList(words)}.` : '';
};

const blockedSuffix = ({ ready, paused, failed, desired, unreachableAt }: MachineFacts): string => {
  if (paused) return ' (paused)';
  if (!ready) return ' (not Ready)';
  if (failed !== undefined && failed === desired) return ' (has refused)';
  return unreachableAt === undefined ? '' : ' (does not answer)';
};

const passedOverMessage = ({ rollRecord: { passedOver, turns } }: Roll): string => {
  const names = passedOver.filter(({ uid }) => !turns.some((turn) => turn.uid === uid)).map(({ machine }) => machine);
  return names.length > 0 ? `Could not be rolled in their turn: ${formatNameList(names)}.` : '';
};

/**
 * During an upgrade of the provider, managers of two releases may lead in turns. Each rolls by its own configuration, but only the manager
 * that the fleet names may report that the roll is finished or stalled. Otherwise `helm --wait` would see the old manager's Ready before
 * the new one has observed the fleet.
 */

/** Whether the fleet names this manager, or none. */
const isNamedManager = ({ fleet, releaseID }: Snapshot): boolean =>
  fleet?.releaseID === undefined || fleet.releaseID === releaseID;

/**
 * Machines that the named manager has not planned yet: they may be up to date only by the plan of the previous manager. Paused machines and
 * those that are down do not depend on the leader.
 */
const unplannedMachines = ({ fleet, machines }: Snapshot): MachineFacts[] => {
  const named = fleet?.releaseID;
  if (named === undefined) return [];
  return machines.filter(
    (machine) => isRollable(machine) && machine.ready && !machine.paused && machine.plannedBy !== named,
  );
};

const countOf = (count: number): string => `${count} machine${count === 1 ? '' : 's'}`;

/** Ends the text with a period if it has no end. */
export const asSentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);
