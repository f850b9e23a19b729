import type { Clock } from '@tartan/kube/clock';
import type { Operation } from '../http/operations.ts';
import { type Figures, readFigures, readLimit, type Refusal } from './read-limit.ts';

const hour = 3_600_000;
/**
 * Looking (purpose `watch`) may use this share of the hour's calls, and no sooner than the hour passes: what is left is for making and
 * removing runners. Whoever acts spends from the same hour, so the busier they are, the less is looked.
 */
const watchShare = 0.5;
/** What looking may be ahead of the hour: a look at a large organisation takes some 120 calls of 5,000. */
const watchBurst = 0.05;

/** Until when looking has to wait; in the past: it need not. */
const watchClosedUntil = ({ limit, remaining, resetAt }: Figures): number => {
  const ahead = (limit - remaining) / limit - watchBurst;
  return resetAt - hour * Math.max(0, 1 - ahead / watchShare);
};

/** What GitHub lets an installation ask. One for all who ask as it, since GitHub counts them together. */
export interface Allowance {
  /** Until when this is not to be asked; undefined: now. */
  closedUntil(operation: Operation): number | undefined;
  /** Takes in what an answer tells of limits. Returns until when to wait, if the answer was a refusal for that reason. */
  heard(operation: Operation, answer: Refusal): number | undefined;
}

export const createAllowance = (clock: Clock): Allowance => {
  /** Until when, by route. */
  const closed = new Map<string, number>();
  const everything = '*';
  let figures: Figures | undefined;
  let guesses = 0;
  return {
    closedUntil: ({ route, purpose }) => {
      const now = clock.now();
      const until = Math.max(
        closed.get(everything) ?? 0,
        closed.get(route) ?? 0,
        purpose === 'watch' && figures !== undefined ? watchClosedUntil(figures) : 0,
      );
      return until > now ? until : undefined;
    },
    heard: ({ route, isAsApp = false }, answer) => {
      const now = clock.now();
      if (!isAsApp) figures = readFigures(answer.headers, now) ?? figures;
      const limit = readLimit(answer, now, guesses);
      if (limit === undefined) {
        if (answer.status < 400) guesses = 0;
        return undefined;
      }
      if (limit.isGuess) guesses += 1;
      const what = limit.isForAll && !isAsApp ? everything : route;
      // Of answers that come together, the one that asks for the longest wait counts.
      const until = Math.max(closed.get(what) ?? 0, limit.retryAt);
      closed.set(what, until);
      return until;
    },
  };
};
