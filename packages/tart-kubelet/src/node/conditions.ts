import { vmStartCondition } from '@tartan/api';
import { timestamp } from '@tartan/kube/clock';
import type { Facts } from './host-facts.ts';
import { type Claim, diskPressure, memoryPressure, pidPressure } from './pressure.ts';
import type { NodeCondition } from './snapshot.ts';

/** Trouble with the console does not make a Node unready: the agent mends it before each start, and Pods say what they wait for. */
const ready = ({ runtime }: Facts): Claim =>
  runtime === undefined
    ? {
        type: 'Ready',
        status: 'False',
        reason: 'TartKubeletNotReady',
        message: 'The agent runs, but tart has not answered yet: see whether it is installed and works.',
      }
    : { type: 'Ready', status: 'True', reason: 'TartKubeletReady', message: 'The agent takes Pods.' };

const guiSession = ({ guiSession: present }: Facts): Claim => {
  const about = (status: Claim['status'], reason: string, message: string): Claim => ({
    type: 'GUISession',
    status,
    reason,
    message,
  });
  if (present === undefined) return about('Unknown', 'NotLookedAt', 'Nobody has looked at the console yet.');
  return present
    ? about('True', 'LoggedIn', 'Virtual machines can start: the console session is there.')
    : about(
        'False',
        'NoSession',
        'No virtual machine can start: nobody is logged in at the console. The agent restarts loginwindow before each start; if that does not help, look at automatic login.',
      );
};

const vmSlots = ({ slots }: Facts): Claim => {
  const about = (status: Claim['status'], reason: string, message: string): Claim => ({
    type: 'VMSlots',
    status,
    reason,
    message,
  });
  if (slots === undefined) return about('Unknown', 'NotCounted', 'Nobody has counted the virtual machines yet.');
  const message = `${slots.taken} of ${slots.total} virtual machines run.`;
  return slots.taken < slots.total ? about('True', 'SlotsFree', message) : about('False', 'SlotsTaken', message);
};

/** The provider taints a Node on which this is False: no Node may taint itself. */
const vmStart = ({ vmStart: verdict }: Facts): Claim => {
  const about = (status: Claim['status'], reason: string, message: string): Claim => ({
    type: vmStartCondition,
    status,
    reason,
    message,
  });
  switch (verdict?.kind) {
    case undefined:
      return about('Unknown', 'NotRead', 'The agent has not read yet what became of earlier starts.');
    case 'works':
      return about('True', 'NotRefused', 'Starts of virtual machines are not refused.');
    case 'refused':
      return about(
        'False',
        'StartsRefused',
        `Virtual machines do not start on this Mac: ${shortened(verdict.message)} Waiting Pods try again. See whether somebody is logged in at the console and the login keychain is unlocked; if that does not help, restart the Mac.`,
      );
    case 'slots leaked':
      return about(
        'False',
        'SlotsLeaked',
        `macOS refuses to start a virtual machine as too many, although ${verdict.running} of ${verdict.total} run: it has not given back the slots of some that ended. Restart the Mac.`,
      );
  }
};

const mostCharacters = 512;
/** The end of a text: what went wrong is told last. On one line, and as a sentence. */
const shortened = (message: string): string => {
  const line = message.replaceAll(/\s+/g, ' ').trim();
  const end = line.length <= mostCharacters ? line : `…${line.slice(1 - mostCharacters)}`;
  return /[.!?]$/.test(end) ? end : `${end}.`;
};

/** Of the one network that all guests of a Mac are in. */
const mostAddresses = 253;
/** Two virtual machines at a time, none of less than a minute: within an hour they use no more than half of the addresses. */
const longestLease = 3600;

/** Each clone has a MAC of its own, so each run takes an address for as long as a lease lasts (G28). */
const guestAddresses = ({ leaseSeconds }: Facts): readonly Claim[] => {
  if (leaseSeconds === undefined) return [];
  const type = 'GuestAddresses';
  const message = `A guest keeps its address for ${leaseSeconds} s, also after it is gone, and there are ${mostAddresses}.`;
  return leaseSeconds <= longestLease
    ? [{ type, status: 'True', reason: 'LeasesShort', message }]
    : [
        {
          type,
          status: 'False',
          reason: 'LeasesTooLong',
          message: `${message} Once they are used up, guests get none, or one that another has. Set DHCPLeaseTimeSecs of bootpd in com.apple.InternetSharing.default to 600.`,
        },
      ];
};

/** Everything that the agent says about the Mac; other conditions of the Node are other people's. */
export const claimsOf = (facts: Facts): readonly Claim[] => [
  memoryPressure(facts),
  diskPressure(facts),
  pidPressure(facts),
  guiSession(facts),
  vmSlots(facts),
  vmStart(facts),
  ...guestAddresses(facts),
  // Last, as kubelets do: whoever reads it there has read the others.
  ready(facts),
];

/** Even when nothing changes a status is written this often, so that its time stamps mean something. */
const refreshMs = 5 * 60_000;

/** When a status that says the right things is to be written again. At once when it bears no time, or one that cannot be. */
export const refreshAt = (conditions: readonly NodeCondition[], now: number): number => {
  const readyOne = conditions.find(({ type }) => type === 'Ready');
  const last = Date.parse(readyOne?.lastHeartbeatTime ?? '');
  // Somebody may have set the clock back.
  return Number.isNaN(last) || last > now + refreshMs ? now : last + refreshMs;
};

const says = (condition: NodeCondition | undefined, { status, reason, message }: Claim): boolean =>
  condition?.status === status && condition.reason === reason && (condition.message ?? '') === message;

/** Our conditions as they are to be; `undefined` when they are so, and no refresh is due. */
export const conditionChanges = (
  before: readonly NodeCondition[],
  claims: readonly Claim[],
  now: number,
): NodeCondition[] | undefined => {
  const old = (type: string): NodeCondition | undefined => before.find((each) => each.type === type);
  const fresh = now < refreshAt(before, now);
  if (fresh && claims.every((claim) => says(old(claim.type), claim))) return undefined;
  const time = timestamp(now);
  return claims.map((claim) => {
    const since = old(claim.type);
    const lastTransitionTime = since?.status === claim.status ? (since.lastTransitionTime ?? time) : time;
    return { ...claim, lastHeartbeatTime: time, lastTransitionTime };
  });
};
