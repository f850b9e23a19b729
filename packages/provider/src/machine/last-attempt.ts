import type { LastAttempt, MachineStatus } from '@tartan/api';
import { backoffMs, type BackoffOptions, getCondition } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { WorkOutcome } from '../host-work/host-work.ts';
import { intervals } from './requeue.ts';
import type { NodeFacts, Snapshot } from './snapshot.ts';

type Task = LastAttempt['task'];
export type Outcome = LastAttempt['outcome'];

/** The last work on a machine's Mac. Only this function reads the fields of managers before `lastAttempt`. */
export const lastAttemptOf = (status: MachineStatus): LastAttempt | undefined =>
  status.lastAttempt ?? attemptOfOlderManager(status);

const attemptOfOlderManager = (status: MachineStatus): LastAttempt | undefined => {
  const { bootstrapAttempts = 0, lastBootstrapFailureTime = '' } = status;
  const { tartKubeletUpdateAttempts = 0, lastUpdateFailureTime = '' } = status;
  const rejected = { outcome: 'Rejected', message: '' } as const;
  if (bootstrapAttempts > 0)
    return { ...rejected, task: 'Bootstrap', at: lastBootstrapFailureTime, count: bootstrapAttempts };
  if (tartKubeletUpdateAttempts > 0)
    return { ...rejected, task: 'Update', at: lastUpdateFailureTime, count: tartKubeletUpdateAttempts };
  const upToDate = getCondition(status.conditions, 'HostUpToDate');
  return upToDate?.reason === 'WaitingForIdle'
    ? { task: 'Update', outcome: 'WaitingForIdle', message: '', at: upToDate.lastTransitionTime, count: 0 }
    : undefined;
};

const isProvisioning = (task: Task): boolean => task === 'Credentials' || task === 'Bootstrap';

/**
 * Failures in a row. Tasks before provisioning share one count, and so do those after it: an unreadable password between two failed
 * bootstraps, or a registration between two rejected updates, does not reset the count.
 */
export const failuresOf = (status: MachineStatus, task: Task): number => {
  const attempt = lastAttemptOf(status);
  return attempt !== undefined && isProvisioning(attempt.task) === isProvisioning(task) ? attempt.count : 0;
};

/** Limit of the field. */
const maxMessageLength = 1024;

export type AttemptResult = Pick<LastAttempt, 'task' | 'outcome'> & { readonly message?: string };

/** The status with another last attempt. `count` defaults to the failures so far. */
export const withAttempt = (
  status: MachineStatus,
  { task, outcome, message = '' }: AttemptResult,
  now: number,
  count = failuresOf(status, task),
): MachineStatus => {
  const { bootstrapAttempts: _, lastBootstrapFailureTime: __, tartKubeletUpdateAttempts: ___, ...rest } = status;
  const lastAttempt = { task, outcome, message: message.slice(0, maxMessageLength), at: timestamp(now), count };
  return { ...rest, lastAttempt };
};

/** Nothing runs at the end of a reconcile: the next one continues an attempt that was aborted or cut off. */
export const withoutRunning = (status: MachineStatus): MachineStatus =>
  status.lastAttempt?.outcome === 'Running'
    ? { ...status, lastAttempt: { ...status.lastAttempt, outcome: 'Aborted' } }
    : status;

const { afterFailure, afterPush, locked, manualFix, nodeMissing, poll, unreachable } = intervals;

const afterUpdate: Partial<Record<Outcome, number>> = {
  Succeeded: afterPush,
  RebootPending: afterPush,
  WaitingForIdle: afterFailure,
  Incomplete: unreachable,
  Rejected: afterFailure,
  HostUnreachable: unreachable,
  HostKeyMismatch: unreachable,
  HostNotWiped: unreachable,
  HostLocked: locked,
};

/** How long nothing else is tried on the Mac after an attempt, in milliseconds. Other outcomes cause no pause. */
const pauses: Readonly<Record<Task, Partial<Record<Outcome, number>>>> = {
  Credentials: {},
  Bootstrap: {
    WaitingForIdle: afterFailure,
    Incomplete: afterFailure,
    Rejected: afterFailure,
    HostUnreachable: afterFailure,
    HostKeyMismatch: afterFailure,
    HostLocked: afterFailure,
    InvalidSpec: poll,
    TailscaleAuthKeyUnavailable: poll,
    NodeIdentityUnavailable: poll,
    GHRunnerRegistrationTokenUnavailable: manualFix,
  },
  Register: {
    Succeeded: nodeMissing,
    RebootPending: nodeMissing,
    WaitingForIdle: nodeMissing,
    Incomplete: nodeMissing,
    Rejected: unreachable,
    HostUnreachable: unreachable,
    HostKeyMismatch: unreachable,
    HostNotWiped: unreachable,
    HostLocked: unreachable,
    InvalidSpec: unreachable,
    NodeIdentityUnavailable: unreachable,
  },
  Update: afterUpdate,
  RollBack: afterUpdate,
};

/** Between two reads of the login from Scaleway that fail alike. A password in the Secret triggers. */
const readBackoff: Partial<Record<Outcome, BackoffOptions>> = {
  MissingSudoPassword: { baseMs: manualFix, maxMs: 60 * 60_000 },
  CredentialsRefreshFailed: { baseMs: poll, maxMs: manualFix },
  CredentialsPersistFailed: { baseMs: poll, maxMs: manualFix },
};

/** How long Scaleway is not asked for the login. A new process goes by the last attempt. */
export const readPauseMs = ({ now, login, failedRead, machine: { status } }: Snapshot): number => {
  const attempt = lastAttemptOf(status);
  const { outcome, inARow, forMs } =
    failedRead ??
    (attempt?.task === 'Credentials'
      ? { outcome: attempt.outcome, inARow: 1, forMs: now - Date.parse(attempt.at) }
      : noRead);
  const backoff = outcome && readBackoff[outcome];
  // The Secret without a password was deleted.
  if (backoff === undefined || (outcome === 'MissingSudoPassword' && login.kind !== 'known')) return 0;
  return restOf(backoffMs(backoff, inARow), forMs);
};

const noRead = { outcome: undefined, inARow: 0, forMs: 0 };

/** A time that is invalid is long ago; one ahead of the clock must not extend the pause. */
const restOf = (pause: number, forMs: number): number => (forMs < pause ? pause - Math.max(0, forMs) : 0);

/** The rest of the pause. With our cordon on its Node, an update waits for an idle Mac instead. */
export const pauseMs = (attempt: LastAttempt | undefined, now: number, node: NodeFacts): number => {
  if (attempt === undefined) return 0;
  const { task, outcome, at } = attempt;
  if (outcome === 'WaitingForIdle' && node.kind === 'ours' && node.cordonedByUs) return 0;
  return restOf(pauses[task][outcome] ?? 0, now - Date.parse(at));
};

/** The Mac was not reached, or was not the right one. Nothing was sent to it (INC-13). */
export const isUnreachable = (outcome: Outcome): boolean =>
  outcome === 'HostUnreachable' || outcome === 'HostKeyMismatch' || outcome === 'HostNotWiped';

/** Whether all steps are done: a machine is not provisioned before. */
export const isComplete = (outcome: WorkOutcome): boolean => outcome.kind === 'done' && outcome.deferred.length === 0;

/** Steps wait for virtual machines to end. */
export const waitsForIdle = (outcome: WorkOutcome): boolean =>
  outcome.kind === 'done' && outcome.deferred.some(({ reason }) => reason === 'the host is not idle');

const outcomes = {
  unreachable: 'HostUnreachable',
  'host key changed': 'HostKeyMismatch',
  'not wiped': 'HostNotWiped',
  locked: 'HostLocked',
  rejected: 'Rejected',
  aborted: 'Aborted',
} as const satisfies Partial<Record<WorkOutcome['kind'], Outcome>>;

export const attemptOutcome = (outcome: WorkOutcome): Outcome => {
  if (outcome.kind !== 'done') return outcomes[outcome.kind];
  if (waitsForIdle(outcome)) return 'WaitingForIdle';
  if (!isComplete(outcome)) return 'Incomplete';
  return outcome.rebootPending ? 'RebootPending' : 'Succeeded';
};

/** The outcome of a push, for users. */
export const outcomeMessage = (outcome: WorkOutcome): string => {
  if (outcome.kind === 'aborted') return 'It was ended before it was done.';
  if (outcome.kind !== 'done') return outcome.message;
  if (outcome.deferred.length === 0) return 'Everything is done.';
  return `These steps wait: ${outcome.deferred.map(({ step, reason }) => `${step} (${reason})`).join(', ')}.`;
};
