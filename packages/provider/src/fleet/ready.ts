import { type ConditionReason, say } from '@tartan/api';
import type { ConditionUpdate } from '@tartan/kube';
import { type Counts, progress, whoHasATurn, whoIsLeft, whyStopped } from './conditions.ts';
import type { Decision, Snapshot } from './decide.ts';
import { isOutdated, type MachineFacts } from './machine-facts.ts';
import { notYetPlanned, speaksFor } from './named-manager.ts';
import { counted, named } from './words.ts';

type Roll = Extract<Decision, { kind: 'roll' }>;

const ready = (reason: ConditionReason<'MacFleet', 'Ready'>, message?: string): ConditionUpdate =>
  say('MacFleet', 'Ready', reason, message);

const namesOf = (machines: readonly MachineFacts[]): string[] => machines.map(({ name }) => name).sort();
const notReady = ({ machines }: Snapshot): MachineFacts[] =>
  machines.filter(({ ready, deleting }) => !ready && !deleting);

/** Ready is for whoever waits for the whole fleet, `helm --wait` above all: what keeps it waiting comes first. */
export const readyOf = (snapshot: Snapshot, roll: Roll, counts: Counts): ConditionUpdate => {
  if (!speaksFor(snapshot)) return ready('WaitingForManager', whoIsAwaited(snapshot, counts));
  if (snapshot.awaited || roll.scaling?.replicas !== undefined) return ready('WaitingForMachineDeployment');
  switch (roll.state) {
    case 'stalled':
      return ready('Stalled', `${progress(counts)} ${whyStopped(roll)}`);
    case 'paused':
      return ready(
        'Paused',
        `${progress(counts)} ${whoIsLeft(snapshot, roll)} Unset spec.paused and spec.pausedByRelease (rollout.paused of the chart), and remove the annotation cluster.x-k8s.io/paused, to go on.`,
      );
    case 'canary':
    case 'wave':
      return ready('Rolling', `${progress(counts)} ${whoHasATurn(roll)} ${whoIsLeft(snapshot, roll)}`.trim());
    case 'waitingForMachines':
      return waiting(snapshot, roll, counts);
    case 'upToDate':
      return atRest(snapshot, counts);
  }
};

/** Somebody is left, and nobody can be rolled now. */
const waiting = (snapshot: Snapshot, roll: Roll, counts: Counts): ConditionUpdate => {
  const down = namesOf(notReady(snapshot));
  const stuck = snapshot.machines.some((machine) => isOutdated(machine) && machine.ready);
  if (!waitsForMacs(snapshot))
    return stuck
      ? ready('Rolling', `${progress(counts)} ${whoIsLeft(snapshot, roll)}`)
      : (planOf(snapshot, counts) ?? short(down, counts));
  return down.length > 0
    ? ready('MachinesNotReady', `${progress(counts)} Not Ready: ${named(down)}.`)
    : ready('Rolling', `${progress(counts)} ${whoIsLeft(snapshot, roll)}`);
};

/** There is nothing to roll. */
const atRest = (snapshot: Snapshot, counts: Counts): ConditionUpdate => {
  const { desired, existing } = counts;
  const down = namesOf(notReady(snapshot));
  if (waitsForMacs(snapshot) && snapshot.leftBehind.length > 0)
    return ready('Replacing', `From another template: ${named(snapshot.leftBehind)}.`);
  const isShort = existing < desired || down.length > 0;
  if (!isShort || !waitsForMacs(snapshot))
    return planOf(snapshot, counts) ?? (isShort ? short(down, counts) : ready('UpToDate'));
  if (existing < desired)
    return ready(
      'MachinesMissing',
      `${counted(desired)} are wanted and ${existing} there. Look at the MachineDeployment and its template.`,
    );
  return ready('MachinesNotReady', `Not Ready: ${named(down)}.`);
};

const waitsForMacs = ({ fleet }: Snapshot): boolean => fleet?.waitForMacs !== false;

const short = (down: readonly string[], { desired, existing, ready: up, updated }: Counts): ConditionUpdate =>
  ready(
    'ReadyButShort',
    [
      `${counted(desired)} are wanted, ${existing} are there, ${up} Ready, ${updated} up to date.`,
      ...(down.length > 0 ? [`Not Ready: ${named(down)}.`] : []),
      'spec.waitForMacs is false.',
    ].join(' '),
  );

/** What keeps a fleet that seems well from saying so. */
const planOf = (snapshot: Snapshot, { updated, existing }: Counts): ConditionUpdate | undefined => {
  const unplanned = namesOf(notYetPlanned(snapshot));
  if (unplanned.length === 0) return undefined;
  const manager = `the manager of release ${snapshot.fleet?.releaseID ?? ''}`;
  return ready(
    'WaitingForManager',
    `${updated} of ${existing} were up to date. Not looked at yet by ${manager}: ${named(unplanned)}.`,
  );
};

const whoIsAwaited = ({ fleet, releaseID }: Snapshot, { updated, existing }: Counts): string => {
  const who = releaseID === undefined ? 'a manager without --release-id' : `the manager of release ${releaseID}`;
  return `${updated} of ${existing} are up to date by ${who}. That of release ${fleet?.releaseID ?? ''} has not looked yet.`;
};
