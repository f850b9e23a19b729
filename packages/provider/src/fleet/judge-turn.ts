import { isSettled, type MachineFacts, takesPart } from './machine-facts.ts';
import type { Turn } from './turn.ts';

export interface Limits {
  /** For how long a refusal, or a stop, is final. Undefined: until something else is wanted. */
  retryAfterMs: number | undefined;
  /** What a Mac that does not answer is given: one try that fails, and one more. */
  unreachableMs: number;
  /** How long a Mac that is well, and idle, may go without having what it shall have. The next one is due then. */
  longestTurnMs: number;
  /** How long a machine that could not use its turn waits for the next one. */
  passAgainMs: number;
}

export interface Rules {
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

const failedInTurn = (turn: Turn, { lastFailure }: MachineFacts, { limits }: Rules): boolean =>
  lastFailure !== undefined && lastFailure >= grantedAt(turn) - skewMs(limits);

/** From when it went down: a Mac may have waited for hours to be idle before anything was pushed to it. */
const isOverdue = (turn: Turn, machine: MachineFacts, { now, gateDeadlineMs }: Rules): boolean =>
  !machine.ready && now - Math.max(grantedAt(turn), machine.notReadySince ?? 0) >= gateDeadlineMs;

const takesTooLong = (turn: Turn, { ready, waitingForIdle }: MachineFacts, { now, limits }: Rules): boolean =>
  ready && !waitingForIdle && turn.waitsForIdle !== true && now - grantedAt(turn) >= limits.longestTurnMs;

const hasNotAnswered = (turn: Turn, { unreachable }: MachineFacts, { now, limits }: Rules): boolean =>
  unreachable && now - grantedAt(turn) >= limits.unreachableMs;

/**
 * What becomes of a turn. `wasDown`: the machine was not Ready when it got it. Then nothing that happens to it speaks against the
 * revision, so that it stops nobody; the same goes for a turn of an earlier revision.
 */
export const judgeTurn = (turn: Turn, machine: MachineFacts | undefined, wasDown: boolean, rules: Rules): Verdict => {
  if (machine === undefined || !takesPart(machine)) return 'over';
  if (turn.rollBack === true) return judgeRollBack(turn, machine, rules);
  if (isSettled(machine)) return 'done';
  if (machine.paused && machine.ready) return 'passedOver';
  const overdue = isOverdue(turn, machine, rules);
  if (machine.desired !== turn.hash) return machine.ready ? 'over' : overdue ? 'passedOver' : 'stranded';
  const counts = turn.revision === rules.revision && !wasDown;
  const failed = failedInTurn(turn, machine, rules);
  if (failed && machine.failed === turn.hash) return counts ? 'rejected' : 'over';
  // A canary that does not answer and is not Ready may have been cut off by what was pushed: that is for the deadline to judge, or
  // such a revision would take down one Mac after the other.
  const mayBeOurFault = turn.canary && counts && !machine.ready;
  if (hasNotAnswered(turn, machine, rules) && !mayBeOurFault) return 'passedOver';
  if (overdue) return counts ? 'late' : 'passedOver';
  if (failed && machine.attempts > 0 && counts) return 'failing';
  return takesTooLong(turn, machine, rules) ? 'passedOver' : 'busy';
};

/** Ends when the machine says so, or is well with what it had before. One that cannot even be rolled back is down, and holds up nobody. */
const judgeRollBack = (turn: Turn, machine: MachineFacts, rules: Rules): Verdict => {
  const rolledBack = machine.failed === turn.hash || (machine.ready && machine.actual !== turn.hash);
  if (rolledBack) return 'over';
  return rules.now - grantedAt(turn) >= rules.gateDeadlineMs ? 'passedOver' : 'busy';
};

/** Whether what was to be pushed has arrived, so that there is something to roll back. */
export const hasArrived = (turn: Turn, { actual, pushed }: MachineFacts): boolean =>
  actual === turn.hash || pushed === turn.hash;

/** A refusal counts until the machine wants something else, or the time is over. */
export const mayTry = ({ failed, desired, lastFailure }: MachineFacts, now: number, limits: Limits): boolean =>
  failed === undefined ||
  failed !== desired ||
  (limits.retryAfterMs !== undefined && now - (lastFailure ?? 0) >= limits.retryAfterMs);
