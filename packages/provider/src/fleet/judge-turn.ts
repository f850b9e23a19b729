import { timestamp } from '@tartan/kube/clock';
import type { Turn } from './turns.ts';

/** What a roll has to know of a machine. */
export interface MachineFacts {
  name: string;
  uid: string;
  /** Its Mac was made ready once. */
  provisioned: boolean;
  deleting: boolean;
  /** Nobody works on it: it has the annotation, or its cluster is paused. */
  paused: boolean;
  ready: boolean;
  /** Since when it is not Ready; undefined also when nobody knows. */
  notReadySince: number | undefined;
  desired: string | undefined;
  /** The release of the manager that said so. */
  plannedBy: string | undefined;
  /** What its agent says that the Mac has; while that is down, what the last push left there. */
  actual: string | undefined;
  /** What the last push left there. An agent that does not start any more never says so itself. */
  pushed: string | undefined;
  /** What the Mac refused. */
  failed: string | undefined;
  /** Failed pushes in a row. */
  attempts: number;
  lastFailure: number | undefined;
  /** When the last push found nobody at the address (INC-13). Undefined: it did not. */
  unreachableAt: number | undefined;
  waitingForIdle: boolean;
  /** Why it does not have what it shall have, in its own words. */
  failureMessage: string | undefined;
}

/** Whether it counts at all: one without a Mac, or on its way out, is nobody to roll. */
export const isRollable = ({ provisioned, deleting }: MachineFacts): boolean => provisioned && !deleting;

export const isUpdated = ({ desired, actual }: MachineFacts): boolean => desired !== undefined && actual === desired;

export const isOutdated = (machine: MachineFacts): boolean =>
  isRollable(machine) && machine.desired !== undefined && !isUpdated(machine);

/** Nothing is left to do for it. */
export const isReadyAndUpdated = (machine: MachineFacts): boolean => machine.ready && isUpdated(machine);

const minute = 60_000;

export const defaultLimits = {
  /** What a Mac that does not answer is given: one try that fails, and one more. */
  unreachableMs: 2 * minute,
  /** How long a Mac that is well, and idle, may go without having what it shall have. The next one is due then. */
  longestTurnMs: 30 * minute,
  /** How long a machine that could not use its turn waits for the next one. */
  passAgainMs: 15 * minute,
};

export interface Limits extends Readonly<typeof defaultLimits> {
  /** For how long a refusal, or a stop, is final. Undefined: until something else is wanted. */
  readonly retryAfterMs: number | undefined;
}

export interface TurnContext {
  now: number;
  revision: string;
  gateDeadlineMs: number;
  limits: Limits;
}

export type Verdict =
  /** It has what it shall have, and is Ready. */
  | 'done'
  /** Nobody is left who needs it. */
  | 'over'
  /** It cannot use it now. The others go on. */
  | 'passedOver'
  /** The Mac refused for good. The roll stops. */
  | 'rejected'
  /** The Mac is not Ready in time. The roll stops. */
  | 'late'
  /** It went down and wants something else by now. It keeps its place in the budget until it may have that. */
  | 'stranded'
  /** A push has failed and is tried again. Nobody else gets a turn meanwhile. */
  | 'failing'
  | 'busy';

/** Clocks of two managers differ a little. A machine that may be tried again has failed long before its turn, so there is room. */
const skewMs = ({ retryAfterMs }: Limits): number => Math.min(60_000, (retryAfterMs ?? Infinity) / 2);

const grantedAt = (turn: Turn): number => Date.parse(turn.grantedAt);

const isInTurn = (turn: Turn, time: number | undefined, { limits }: TurnContext): boolean =>
  time !== undefined && time >= grantedAt(turn) - skewMs(limits);

/** From when it went down: a Mac may have waited for hours to be idle before anything was pushed to it. */
const isOverdue = (turn: Turn, machine: MachineFacts, { now, gateDeadlineMs }: TurnContext): boolean =>
  !machine.ready && now - Math.max(grantedAt(turn), machine.notReadySince ?? 0) >= gateDeadlineMs;

const takesTooLong = (turn: Turn, { ready, waitingForIdle }: MachineFacts, { now, limits }: TurnContext): boolean =>
  ready && !waitingForIdle && turn.waitsForIdle !== true && now - grantedAt(turn) >= limits.longestTurnMs;

const isUnreachable = (turn: Turn, { unreachableAt }: MachineFacts, rules: TurnContext): boolean =>
  isInTurn(turn, unreachableAt, rules) && rules.now - grantedAt(turn) >= rules.limits.unreachableMs;

/**
 * What becomes of a turn. `wasDown`: the machine was not Ready when it got it. Then nothing that happens to it speaks against the
 * revision, so that it stops nobody; the same goes for a turn of an earlier revision.
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
  // A canary that does not answer and is not Ready may have been cut off by what was pushed: that is for the deadline to judge, or
  // such a revision would take down one Mac after the other.
  const mayBeOurFault = turn.canary && counts && !machine.ready;
  if (isUnreachable(turn, machine, rules) && !mayBeOurFault) return 'passedOver';
  if (overdue) return counts ? 'late' : 'passedOver';
  if (failed && machine.attempts > 0 && counts) return 'failing';
  return takesTooLong(turn, machine, rules) ? 'passedOver' : 'busy';
};

/** Ends when the machine says so, or is well with what it had before. One that cannot even be rolled back is down, and holds up nobody. */
const judgeRollBack = (turn: Turn, machine: MachineFacts, rules: TurnContext): Verdict => {
  const rolledBack = machine.failed === turn.hash || (machine.ready && machine.actual !== turn.hash);
  if (rolledBack) return 'over';
  return rules.now - grantedAt(turn) >= rules.gateDeadlineMs ? 'passedOver' : 'busy';
};

/** Whether what was to be pushed has arrived, so that there is something to roll back. */
const isPushed = (turn: Turn, { actual, pushed }: MachineFacts): boolean =>
  actual === turn.hash || pushed === turn.hash;

/** A refusal counts until the machine wants something else, or the time is over. */
export const mayRetry = ({ failed, desired, lastFailure }: MachineFacts, now: number, limits: Limits): boolean =>
  failed === undefined ||
  failed !== desired ||
  (limits.retryAfterMs !== undefined && now - (lastFailure ?? 0) >= limits.retryAfterMs);

export interface JudgedTurn {
  turn: Turn;
  machine: MachineFacts | undefined;
  verdict: Verdict;
}

/** The turn as it goes on, if it does. One that is late is used to put back what the Mac had. */
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

/** A job may run for hours before its Mac is idle. That time is not the Mac's. */
const trackIdle = (turn: Turn, waits: boolean, now: number): Turn => {
  const { waitsForIdle = false, ...rest } = turn;
  if (waits === waitsForIdle) return turn;
  return waits ? { ...turn, waitsForIdle: true } : { ...rest, grantedAt: timestamp(now) };
};
