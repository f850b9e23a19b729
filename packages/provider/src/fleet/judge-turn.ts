import { timestamp } from '@tartan/kube/clock';
import type { Turn } from './turns.ts';

/** What a roll has to know about a machine. */
export interface MachineFacts {
  name: string;
  uid: string;
  /** Its Mac was provisioned once. */
  provisioned: boolean;
  deleting: boolean;
  /** It has the annotation, or its Cluster is paused. */
  paused: boolean;
  ready: boolean;
  /** Since when it is not Ready; undefined also if unknown. */
  notReadySince: number | undefined;
  desired: string | undefined;
  /** Release of the manager that set `desired`. */
  plannedBy: string | undefined;
  /** What the agent reports; while the agent is down, what the last push installed. */
  actual: string | undefined;
  /** What the last push installed. An agent that no longer starts cannot report it. */
  pushed: string | undefined;
  /** The hash that the Mac refused. */
  failed: string | undefined;
  /** Failed pushes in a row. */
  attempts: number;
  lastFailure: number | undefined;
  /** When the last push could not reach the Mac (INC-13). Undefined: it could. */
  unreachableAt: number | undefined;
  waitingForIdle: boolean;
  /** Why it is not up to date, from its last attempt. */
  failureMessage: string | undefined;
}

/** A machine without a Mac, or one that is being deleted, is not rolled. */
export const isRollable = ({ provisioned, deleting }: MachineFacts): boolean => provisioned && !deleting;

/**
 * A Mac that should run Pods and cannot. One whose machine is paused is under maintenance and does not count, nor does one that was never
 * available.
 */
export const isUnavailable = (machine: MachineFacts): boolean =>
  isRollable(machine) && !machine.ready && !machine.paused;

export const isUpdated = ({ desired, actual }: MachineFacts): boolean => desired !== undefined && actual === desired;

export const isOutdated = (machine: MachineFacts): boolean =>
  isRollable(machine) && machine.desired !== undefined && !isUpdated(machine);

export const isReadyAndUpdated = (machine: MachineFacts): boolean => machine.ready && isUpdated(machine);

const minute = 60_000;

export const defaultLimits = {
  /** For a Mac that does not answer: one failed attempt, and one more. */
  unreachableMs: 2 * minute,
  /** How long a healthy and idle Mac may take to get updated. Then the next one gets its turn. */
  longestTurnMs: 30 * minute,
  /** How long a machine that missed its turn waits for the next one. */
  passAgainMs: 15 * minute,
};

export interface Limits extends Readonly<typeof defaultLimits> {
  /** How long a refusal or a stop is final. Undefined: until the desired state changes. */
  readonly retryAfterMs: number | undefined;
}

export interface TurnContext {
  now: number;
  revision: string;
  gateDeadlineMs: number;
  limits: Limits;
}

export type Verdict =
  /** Updated and Ready. */
  | 'done'
  /** The turn is no longer needed. */
  | 'over'
  /** It cannot use the turn now. The roll continues with others. */
  | 'passedOver'
  /** The Mac refused for good. The roll stops. */
  | 'rejected'
  /** The Mac is not Ready in time. The roll stops. */
  | 'late'
  /** It went down, and its desired hash has changed since. It keeps its place in the budget until it may get the new one. */
  | 'stranded'
  /** A push has failed and is retried. No other machine gets a turn meanwhile. */
  | 'failing'
  | 'busy';

/**
 * Clock skew between two managers. The last failure of a machine that may be retried is much older than its turn, so the margin is safe.
 */
const skewMs = ({ retryAfterMs }: Limits): number => Math.min(60_000, (retryAfterMs ?? Infinity) / 2);

const grantedAt = (turn: Turn): number => Date.parse(turn.grantedAt);

const isInTurn = (turn: Turn, time: number | undefined, { limits }: TurnContext): boolean =>
  time !== undefined && time >= grantedAt(turn) - skewMs(limits);

/** Counted from when it went down: a Mac may have waited hours to become idle before the push. */
const isOverdue = (turn: Turn, machine: MachineFacts, { now, gateDeadlineMs }: TurnContext): boolean =>
  !machine.ready && now - Math.max(grantedAt(turn), machine.notReadySince ?? 0) >= gateDeadlineMs;

const takesTooLong = (turn: Turn, { ready, waitingForIdle }: MachineFacts, { now, limits }: TurnContext): boolean =>
  ready && !waitingForIdle && turn.waitsForIdle !== true && now - grantedAt(turn) >= limits.longestTurnMs;

const isUnreachable = (turn: Turn, { unreachableAt }: MachineFacts, rules: TurnContext): boolean =>
  isInTurn(turn, unreachableAt, rules) && rules.now - grantedAt(turn) >= rules.limits.unreachableMs;

/**
 * Judges a turn. `wasDown`: the machine was not Ready when it got the turn. Then its failures say nothing about the revision and do not
 * stop the roll; nor do failures in a turn of an earlier revision.
 */
export const judgeTurn = (
  turn: Turn,
  machine: MachineFacts | undefined,
  wasDown: boolean,
  rules: TurnContext,
): Verdict => {
  if (machine === undefined || !isRollable(machine)) return 'over';
  if (turn.rollBack === true) return judgeRollBack(turn, machine, rules);
  if (isReadyAndUpdated(machine)) return 'done';
  if (machine.paused && machine.ready) return 'passedOver';
  const overdue = isOverdue(turn, machine, rules);
  if (machine.desired !== turn.hash) return machine.ready ? 'over' : overdue ? 'passedOver' : 'stranded';
  const counts = turn.revision === rules.revision && !wasDown;
  const failed = isInTurn(turn, machine.lastFailure, rules);
  if (failed && machine.failed === turn.hash) return counts ? 'rejected' : 'over';
  // The push may have cut off a canary that does not answer and is not Ready. The deadline judges that; otherwise such a revision would
  // take down one Mac after the other.
  const mayBeOurFault = turn.canary && counts && !machine.ready;
  if (isUnreachable(turn, machine, rules) && !mayBeOurFault) return 'passedOver';
  if (overdue) return counts ? 'late' : 'passedOver';
  if (failed && machine.attempts > 0 && counts) return 'failing';
  return takesTooLong(turn, machine, rules) ? 'passedOver' : 'busy';
};

/**
 * Ends when the machine reports the roll back, or is Ready with another hash. If even the roll back fails, the machine is down and does not
 * block others.
 */
const judgeRollBack = (turn: Turn, machine: MachineFacts, rules: TurnContext): Verdict => {
  const rolledBack = machine.failed === turn.hash || (machine.ready && machine.actual !== turn.hash);
  if (rolledBack) return 'over';
  return rules.now - grantedAt(turn) >= rules.gateDeadlineMs ? 'passedOver' : 'busy';
};

/** Whether the push has arrived, so that there is something to roll back. */
const isPushed = (turn: Turn, { actual, pushed }: MachineFacts): boolean =>
  actual === turn.hash || pushed === turn.hash;

/** A refusal counts until the desired hash changes, or the retry time is over. */
export const mayRetry = ({ failed, desired, lastFailure }: MachineFacts, now: number, limits: Limits): boolean =>
  failed !== desired || (limits.retryAfterMs !== undefined && now - (lastFailure ?? 0) >= limits.retryAfterMs);

export interface JudgedTurn {
  turn: Turn;
  machine: MachineFacts | undefined;
  verdict: Verdict;
}

/** The turn if it continues. A late turn continues as a roll back. */
export const continueTurn = ({ turn, machine, verdict }: JudgedTurn, now: number): Turn[] => {
  switch (verdict) {
    case 'done':
    case 'over':
    case 'passedOver':
    case 'rejected':
      return [];
    case 'late':
      if (machine === undefined || !isPushed(turn, machine)) return [];
      return [{ ...turn, canary: false, rollBack: true, grantedAt: timestamp(now) }];
    case 'stranded':
    case 'failing':
    case 'busy':
      return [trackIdle(turn, machine?.waitingForIdle ?? false, now)];
  }
};

/** A job may run for hours before its Mac is idle. That time does not count. */
const trackIdle = (turn: Turn, waits: boolean, now: number): Turn => {
  const { waitsForIdle = false, ...rest } = turn;
  if (waits === waitsForIdle) return turn;
  return waits ? { ...turn, waitsForIdle: true } : { ...rest, grantedAt: timestamp(now) };
};
