import type { ScalewayFaults } from '../scaleway.ts';

type Calls = ScalewayFaults['calls'];

/** The first fault that is meant for this call, which is used up by it. */
export const takeFault = (calls: Calls, call: string): Calls[number]['with'] | undefined => {
  // A copy: a global expression remembers where it stopped, and each call is a new text.
  const index = calls.findIndex(({ match, times }) => times > 0 && new RegExp(match).test(call));
  const fault = calls[index];
  if (fault === undefined) return undefined;
  fault.times -= 1;
  if (fault.times === 0) calls.splice(index, 1);
  return fault.with;
};
