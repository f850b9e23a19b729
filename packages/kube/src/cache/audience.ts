import type { Logger } from '../logs/logger.ts';

type Listener<C> = (change: C) => void;

/** One joining: the same function can listen twice and leave once. */
interface Seat<C> {
  listener: Listener<C>;
  left: boolean;
}

/** Those who listen. What one of them throws is logged and concerns nobody else. */
export interface Audience<C> {
  tell(change: C): void;
  /** Tells `listener` of `past`, then of everything that comes. */
  join(listener: Listener<C>, past: Iterable<C>): () => void;
}

export const createAudience = <C>(log: Logger): Audience<C> => {
  // Never changed, only replaced: a round goes on with those who were there when it began.
  let seats: readonly Seat<C>[] = [];
  const complain = (error: unknown): void => log.error('A cache listener threw; the cache goes on', { error });
  const call = (listener: Listener<C>, change: C): void => {
    try {
      const answer: unknown = listener(change);
      // An async function passes as a listener; its rejection would otherwise end the process.
      if (answer instanceof Promise) answer.catch(complain);
    } catch (error) {
      complain(error);
    }
  };
  return {
    tell: (change) => {
      // Who joins during this round has this change in its past already; who leaves is not called any more.
      for (const seat of seats) if (!seat.left) call(seat.listener, change);
    },
    join: (listener, past) => {
      const seat = { listener, left: false };
      for (const change of past) call(listener, change);
      seats = [...seats, seat];
      return () => {
        seat.left = true;
        seats = seats.filter((other) => other !== seat);
      };
    },
  };
};
