import type { MachineStatus } from '@tartan/api';
import { decideJoin, shouldRetireToken } from '../../identity/decide-join.ts';
import type { Decision, Drift } from '../decision.ts';
import { lastAttemptOf, pauseMs } from '../last-attempt.ts';
import { intervals } from '../requeue.ts';
import type { Snapshot } from '../snapshot.ts';

/** A machine that was provisioned once. Its Mac is never restarted or released: virtual machines may run on it. */
export const decideProvisioned = (snapshot: Snapshot): Decision =>
  retireToken(snapshot) ?? rollBack(snapshot) ?? reregister(snapshot) ?? decideDrift(snapshot);

/** A token that is used up or expired is deleted. */
const retireToken = ({ now, join, machine: { status } }: Snapshot): Decision | undefined => {
  if (status.joinTokenID === undefined) return undefined;
  const expired = !(now < Date.parse(status.joinTokenExpires ?? ''));
  if (!expired && !shouldRetireToken(join.lease, join.identity)) return undefined;
  return { kind: 'retire token', certificateExpires: join.identity?.expiresAt };
};

/** Once: the rolled back hash is recorded as refused, and the fleet sees that. */
const rollBack = (snapshot: Snapshot): Decision | undefined => {
  const { turn, fleetKey, machine } = snapshot;
  const { status } = machine;
  if (turn?.rollBack !== true || status.failedHostConfigHash === turn.hash) return undefined;
  if (fleetKey.kind !== 'ready') return wait('no key', intervals.resync);
  const left = pauseLeftMs(snapshot, status);
  return left > 0 ? wait('pausing', left) : { kind: 'roll back', hash: turn.hash };
};

/** If the Node is gone, or its identity can no longer be renewed, the agent registers again, and nothing else is touched. */
const reregister = (snapshot: Snapshot): Decision | undefined => {
  const { node, fleetKey, machine } = snapshot;
  if (node.kind === 'foreign' || (node.kind === 'ours' && node.ready === 'True')) return undefined;
  const joinReason = newJoinReason(snapshot);
  const missing = node.kind === 'missing';
  // It may be back in a moment.
  if (missing && node.forMs < intervals.nodeMissing) return wait('not reported', intervals.nodeMissing - node.forMs);
  // An existing Node registers again only if its identity can no longer be renewed. Whether its Mac is up is another question.
  const shutOut = joinReason === 'CertificateExpired' || joinReason === 'TokenLost';
  if (!missing && !shutOut) return undefined;
  if (fleetKey.kind !== 'ready') return wait('no key', intervals.resync);
  const left = pauseLeftMs(snapshot, machine.status);
  if (left > 0) return wait('pausing', left);
  return {
    kind: 're-register',
    newJoin: joinReason !== undefined,
    reason: missing
      ? 'The Node is gone.'
      : 'The certificate of the Mac has expired: it was off for too long to renew it.',
  };
};

const newJoinReason = ({ now, join, machine: { status } }: Snapshot): ReturnType<typeof decideJoin> => {
  const expires = Date.parse(status.certificateExpires ?? '');
  const token =
    status.joinTokenID === undefined
      ? undefined
      : {
          expiresAt: Date.parse(status.joinTokenExpires ?? ''),
          delivered: status.joinVersion === status.joinTokenID,
        };
  return decideJoin({
    now,
    token,
    nodeLease: join.lease,
    // A Lease renewed after that expiry proves a newer certificate, which we have not seen.
    certificateExpiresAt: join.lease !== undefined && join.lease.renewedAt < expires ? expires : undefined,
  });
};

/**
 * What the Mac has. The agent's report counts, unless the agent is down: then the last push counts, so that a fleet sees that a Mac got an
 * update and did not come back with it.
 */
export const actualHash = (
  snapshot: Pick<Snapshot, 'now' | 'node'>,
  status: MachineStatus,
): MachineStatus['hostConfigHash'] => {
  const { node } = snapshot;
  const summary = node.kind === 'ours' && node.ready === 'True' ? node.summary : undefined;
  // Right after a push the agent has yet to restart.
  return pauseLeftMs(snapshot, status) > 0 ? (status.hostConfigHash ?? summary) : (summary ?? status.hostConfigHash);
};

const pauseLeftMs = ({ now, node }: Pick<Snapshot, 'now' | 'node'>, status: MachineStatus): number => {
  const attempt = lastAttemptOf(status);
  return attempt?.outcome === 'Succeeded' && reports(node, status.hostConfigHash) ? 0 : pauseMs(attempt, now, node);
};

/** The agent has restarted with what was pushed: that is what the pause after a push is for. */
const reports = (node: Snapshot['node'], hash: string | undefined): boolean =>
  node.kind === 'ours' && node.ready === 'True' && node.summary !== undefined && node.summary === hash;

/** Compares the actual with the desired state. Nothing is pushed without a turn. */
const decideDrift = (snapshot: Snapshot): Decision => {
  const { node, desired, turn, machine } = snapshot;
  const { status } = machine;
  const cordoned = node.kind === 'ours' && node.cordonedByUs;
  if (desired.kind !== 'known') return cordoned ? { kind: 'uncordon' } : wait('no plan', intervals.manualFix);
  const failed = status.failedHostConfigHash;
  if (failed !== undefined) {
    if (failed !== desired.hash) return { kind: 'clear refusal', reason: 'another hash' };
    if (cooledDown(snapshot, status.lastUpdateFailureTime)) return { kind: 'clear refusal', reason: 'cooldown' };
  }
  const upToDate = isUpToDate(snapshot, status, desired.hash);
  const mayRoll = turn !== undefined && turn.hash === desired.hash && !turn.rollBack && failed === undefined;
  // A cordon of ours without a roll keeps virtual machines off a good Mac.
  if (cordoned && (upToDate || !mayRoll)) return { kind: 'uncordon' };
  if (upToDate) return wait('up to date', status.joinTokenID === undefined ? intervals.resync : intervals.afterJoin);
  if (failed !== undefined) return wait('refused', retryInMs(snapshot, status.lastUpdateFailureTime));
  const left = pauseLeftMs(snapshot, status);
  if (left > 0) return wait('pausing', left);
  if (!mayRoll) return wait(actualHash(snapshot, status) === undefined ? 'not reported' : 'no turn', intervals.resync);
  return roll(snapshot, desired.hash, cordoned);
};

/** Whether the Mac is up to date, except for optional steps. */
export const isUpToDate = (
  snapshot: Pick<Snapshot, 'now' | 'node' | 'policy'>,
  status: MachineStatus,
  desired: string,
): boolean => {
  const { now, policy } = snapshot;
  const tolerance = { desired, leftOut: status.leftOut, now, retryAfterMs: policy.updateRetryAfterMs };
  return effectiveHash(actualHash(snapshot, status), tolerance) === desired;
};

const roll = ({ fleetKey, idle, node }: Snapshot, hash: string, cordoned: boolean): Decision => {
  if (fleetKey.kind !== 'ready') return wait('no key', intervals.resync);
  // What can be done beside virtual machines was done before the cordon.
  if (cordoned && idle !== true) return wait('waiting for idle', intervals.idlePoll);
  // A schedulable idle Node may get a Pod at any moment.
  const staysIdle = idle === true && node.kind === 'ours' && node.unschedulable;
  return { kind: 'roll', hash, idle: staysIdle };
};

const wait = (drift: Drift, forMs: number): Decision => ({ kind: 'wait', drift, forMs });

/** An unknown time of failure counts as long ago (INC-13). */
const cooledDown = ({ now, policy }: Snapshot, failedAt: string | undefined): boolean =>
  policy.updateRetryAfterMs !== undefined && !(now < Date.parse(failedAt ?? '') + policy.updateRetryAfterMs);

const retryInMs = ({ now, policy }: Snapshot, failedAt: string | undefined): number => {
  const left = Date.parse(failedAt ?? '') + (policy.updateRetryAfterMs ?? Infinity) - now;
  return left < intervals.resync ? left : intervals.resync;
};

/**
 * The hash that the Mac counts as having. A failed optional step affects only itself: a Mac without it counts as up to date, so that
 * neither its turn nor the roll of its fleet waits for it. It is retried after a while, or when the desired state changes.
 */
export const effectiveHash = (
  actual: string | undefined,
  { desired, leftOut, now, retryAfterMs }: Tolerance,
): string | undefined => {
  const tolerated =
    leftOut !== undefined &&
    leftOut.actual === actual &&
    leftOut.desired === desired &&
    // An invalid time is long ago.
    now < Date.parse(leftOut.at) + (retryAfterMs ?? Infinity);
  return tolerated ? desired : actual;
};

export interface Tolerance {
  readonly desired: string | undefined;
  readonly leftOut: MachineStatus['leftOut'];
  readonly now: number;
  /** Undefined: never retried. */
  readonly retryAfterMs: number | undefined;
}
