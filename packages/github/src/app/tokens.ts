import type { Secret } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Problem } from '../runner-service.ts';

export interface AccessToken {
  readonly token: Secret;
  /** As GitHub writes it. */
  readonly expires_at: string;
}

/** The token that an installation asks with, shared by all who do. */
export interface Tokens {
  /** `refused`: one that GitHub did not take. Not bound to the signal of whoever asks first: others wait for the same. */
  current(make: () => Promise<AccessToken | Problem>, refused?: Secret): Promise<Secret | Problem>;
}

/** No call takes that long, so none ends with a token that has run out on its way. */
const margin = 5 * 60_000;
/** An App that is not let in is not let in the next second either, and each try counts. */
const deniedFor = 30_000;

export const createTokens = (clock: Clock): Tokens => {
  let known: AccessToken | undefined;
  let pending: Promise<Secret | Problem> | undefined;
  let denied: { readonly problem: Problem; readonly until: number } | undefined;
  const renew = async (make: () => Promise<AccessToken | Problem>): Promise<Secret | Problem> => {
    const made = await make();
    if ('kind' in made) {
      if (made.reason === 'Denied') denied = { problem: made, until: clock.now() + deniedFor };
      return made;
    }
    known = made;
    return made.token;
  };
  return {
    current: async (make, refused) => {
      const isGood =
        known !== undefined && known.token !== refused && clock.now() < Date.parse(known.expires_at) - margin;
      if (isGood && known !== undefined) return known.token;
      if (denied !== undefined && clock.now() < denied.until) return denied.problem;
      pending ??= renew(make).finally(() => {
        pending = undefined;
      });
      return pending;
    },
  };
};
