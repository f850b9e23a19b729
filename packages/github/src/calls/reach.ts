import type { Clock } from '@tartan/kube/clock';
import type { Problem } from '../runner-service.ts';
import { runnersAnswer } from '../wire/answers.ts';
import { type Caller, problemIn } from './caller.ts';

/** How long somebody who saw the runners of an owner is believed to see them still. */
const goodFor = 60_000;

/**
 * To an App that an owner was taken away from, everything there is 404, as if each runner was gone. So a 404 is believed only of who sees
 * the rest: a runner that is taken for gone may lose its Pod.
 */
export interface Reach {
  /** GitHub has shown something of this owner just now. */
  proven(): void;
  /** Undefined: what is 404 is not there. */
  whyNot(what: string, signal: AbortSignal | undefined): Promise<Problem | undefined>;
}

export const createReach = ({ ask, operations, where, ownerName }: Caller, clock: Clock): Reach => {
  let provenAt = Number.NEGATIVE_INFINITY;
  const proven = (): void => {
    provenAt = clock.monotonic();
  };
  return {
    proven,
    whyNot: async (what, signal) => {
      if (clock.monotonic() - provenAt < goodFor) return undefined;
      const parameters = { ...where, per_page: 1 };
      const shown = await ask({ operation: operations.reach, what, parameters, answer: runnersAnswer, signal });
      if (shown.kind !== 'ok') return problemIn(shown, what, ownerName);
      proven();
      return undefined;
    },
  };
};
