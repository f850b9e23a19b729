import { vmStartCondition } from '@tartan/api';
import { timestamp } from '@tartan/kube/clock';
import type { Facts } from '../facts/host-facts.ts';
import type { NodeCondition } from './observe.ts';

/** A condition without its timestamps. */
interface ConditionState {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  /** Must be the same for the same state: each change is a write to the API server. */
  readonly message: string;
}

type State = Omit<ConditionState, 'type'>;

const newState = (status: State['status'], reason: string, message: string): State => ({ status, reason, message });

/** The host disk counts as full below this percentage of free space. */
const minFreePercent = 10;
/** A guest disk counts as full from this percentage on. */
const maxGuestUsedPercent = 90;

/** A disk of unknown size counts as empty. */
const freePercent = ({ freeBytes, totalBytes }: NonNullable<Facts['disk']>): number =>
  totalBytes > 0 ? (freeBytes / totalBytes) * 100 : 100;

/** The host's disk first, then those of running guests (INC-39, INC-40). Never Unknown: Cluster API treats that as not ready. */
export const diskPressure = ({ disk, guestDisks = [] }: Facts): State => {
  const free = disk === undefined ? 100 : freePercent(disk);
  if (free < minFreePercent)
    return newState(
      'True',
      'TartKubeletHasDiskPressure',
      `The disk of the host has ${Math.floor(free)} % free, less than ${minFreePercent} %.`,
    );
  const full = guestDisks.filter(({ usedPercent }) => usedPercent >= maxGuestUsedPercent);
  if (full.length > 0) {
    const each = full.map(({ vm, usedPercent }) => `${vm} at ${Math.floor(usedPercent)}%`).sort();
    return newState('True', 'TartKubeletHasDiskPressure', `Disks of guests are full: ${each.join(', ')}.`);
  }
  return newState(
    'False',
    'TartKubeletHasSufficientDisk',
    'There is room on the disk of the host and on those of its guests.',
  );
};

export const memoryPressure = ({ memory }: Facts): State =>
  memory === 'critical'
    ? newState('True', 'TartKubeletHasMemoryPressure', 'macOS says that memory is critically short.')
    : newState('False', 'TartKubeletHasSufficientMemory', 'macOS has memory enough.');

/** Percentage of macOS' process limit. */
const maxProcessesPercent = 90;

export const pidPressure = ({ processes }: Facts): State => {
  const { running, limit } = processes ?? { running: 0, limit: 0 };
  return limit > 0 && (running / limit) * 100 >= maxProcessesPercent
    ? newState(
        'True',
        'TartKubeletHasPIDPressure',
        `More than ${maxProcessesPercent} % of ${limit} possible processes run.`,
      )
    : newState('False', 'TartKubeletHasSufficientPID', 'There is room for more processes.');
};

/** A missing console session does not make the Node unready: the agent repairs it before each start, and Pods report what they wait for. */
const ready = ({ tartVersion }: Facts): State =>
  tartVersion === undefined
    ? newState(
        'False',
        'TartKubeletNotReady',
        'The agent runs, but tart has not answered yet: see whether it is installed and works.',
      )
    : newState('True', 'TartKubeletReady', 'The agent takes Pods.');

const guiSession = ({ guiSession: present }: Facts): State => {
  if (present === undefined) return newState('Unknown', 'NotLookedAt', 'Nobody has looked at the console yet.');
  return present
    ? newState('True', 'LoggedIn', 'Virtual machines can start: the console session is there.')
    : newState(
        'False',
        'NoSession',
        'No virtual machine can start: nobody is logged in at the console. The agent restarts loginwindow before each start; if that does not help, look at automatic login.',
      );
};

const vmSlots = ({ slots }: Facts): State => {
  if (slots === undefined) return newState('Unknown', 'NotCounted', 'Nobody has counted the virtual machines yet.');
  const message = `${slots.taken} of ${slots.total} virtual machines run.`;
  return slots.taken < slots.total ? newState('True', 'SlotsFree', message) : newState('False', 'SlotsTaken', message);
};

/** The provider taints a Node when this is False: a Node may not taint itself. */
const vmStart = ({ vmStart: health }: Facts): State => {
  switch (health?.kind) {
    case undefined:
      return newState('Unknown', 'NotRead', 'The agent has not read yet what became of earlier starts.');
    case 'works':
      return newState('True', 'NotRefused', 'Starts of virtual machines are not refused.');
    case 'refused':
      return newState(
        'False',
        'StartsRefused',
        `Virtual machines do not start on this Mac: ${shortenMessage(health.message)} Waiting Pods try again. See whether somebody is logged in at the console and the login keychain is unlocked; if that does not help, restart the Mac.`,
      );
    case 'slots leaked':
      return newState(
        'False',
        'SlotsLeaked',
        `macOS refuses to start a virtual machine as too many, although ${health.running} of ${health.total} run: it has not given back the slots of some that ended. Restart the Mac.`,
      );
  }
};

const maxCharacters = 512;
/** The end of a message, which has the error, on one line and with a full stop. */
const shortenMessage = (message: string): string => {
  const line = message.replaceAll(/\s+/g, ' ').trim();
  const end = line.length <= maxCharacters ? line : `…${line.slice(1 - maxCharacters)}`;
  return /[.!?]$/.test(end) ? end : `${end}.`;
};

/** Size of the network that all guests of a Mac share. */
const addressCount = 253;
/** With two VMs at a time, each running at least a minute, an hour uses at most half of the addresses. */
const maxLeaseSeconds = 3600;

/** Each clone has its own MAC address, so each run uses an address for the whole lease time (INC-428). */
const guestAddresses = ({ dhcpLeaseSeconds }: Facts): State | undefined => {
  if (dhcpLeaseSeconds === undefined) return undefined;
  const message = `A guest keeps its address for ${dhcpLeaseSeconds} s, also after it is gone, and there are ${addressCount}.`;
  return dhcpLeaseSeconds <= maxLeaseSeconds
    ? newState('True', 'LeasesShort', message)
    : newState(
        'False',
        'LeasesTooLong',
        `${message} Once they are used up, guests get none, or one that another has. Set DHCPLeaseTimeSecs of bootpd in com.apple.InternetSharing.default to 600.`,
      );
};

/** All conditions of the agent; it does not touch other conditions of the Node. */
export const conditionStates = (facts: Facts): readonly ConditionState[] =>
  Object.entries({
    MemoryPressure: memoryPressure(facts),
    DiskPressure: diskPressure(facts),
    PIDPressure: pidPressure(facts),
    GUISession: guiSession(facts),
    VMSlots: vmSlots(facts),
    [vmStartCondition]: vmStart(facts),
    GuestAddresses: guestAddresses(facts),
    // Last, as in the kubelet.
    Ready: ready(facts),
  }).flatMap(([type, state]) => (state === undefined ? [] : [{ type, ...state }]));

/** The status is written this often even without changes, so that its heartbeat times stay fresh. */
const refreshMs = 5 * 60_000;

/** When an unchanged status is due for a refresh. Immediately if its heartbeat time is missing or implausible. */
export const nextRefresh = (conditions: readonly NodeCondition[], now: number): number => {
  const readyOne = conditions.find(({ type }) => type === 'Ready');
  const last = Date.parse(readyOne?.lastHeartbeatTime ?? '');
  // The clock may have been set back.
  return Number.isNaN(last) || last > now + refreshMs ? now : last + refreshMs;
};

const isUnchanged = (condition: NodeCondition | undefined, { status, reason, message }: ConditionState): boolean =>
  condition?.status === status && condition.reason === reason && (condition.message ?? '') === message;

/** The updated conditions; `undefined` if unchanged and no refresh is due. */
export const conditionChanges = (
  before: readonly NodeCondition[],
  states: readonly ConditionState[],
  now: number,
): NodeCondition[] | undefined => {
  const old = (type: string): NodeCondition | undefined => before.find((each) => each.type === type);
  const fresh = now < nextRefresh(before, now);
  if (fresh && states.every((state) => isUnchanged(old(state.type), state))) return undefined;
  const time = timestamp(now);
  return states.map((claim) => {
    const since = old(claim.type);
    const lastTransitionTime = since?.status === claim.status ? (since.lastTransitionTime ?? time) : time;
    return { ...claim, lastHeartbeatTime: time, lastTransitionTime };
  });
};
