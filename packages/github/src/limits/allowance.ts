import type { Clock } from '@tartan/kube/clock';
import type { Operation } from '../http/operations.ts';
import { type Figures, readFigures, readLimit, type Refusal } from './read-limit.ts';

/** So many calls of the hour are kept for making and removing runners. */
export const lowWater = 50;

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
      const isLow = purpose === 'watch' && figures !== undefined && figures.remaining < lowWater;
      const until = Math.max(
        closed.get(everything) ?? 0,
        closed.get(route) ?? 0,
        isLow && figures !== undefined ? figures.resetAt : 0,
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
