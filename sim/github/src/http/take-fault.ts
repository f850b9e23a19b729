interface Planned<T> {
  readonly match: RegExp;
  times: number;
  readonly with: T;
}

/** The first fault that is meant for this, which is used up by it. */
export const takeFault = <T>(planned: Planned<T>[], what: string): T | undefined => {
  // A copy: a global expression remembers where it stopped, and each call is a new text.
  const index = planned.findIndex(({ match, times }) => times > 0 && new RegExp(match).test(what));
  const fault = planned[index];
  if (fault === undefined) return undefined;
  fault.times -= 1;
  if (fault.times === 0) planned.splice(index, 1);
  return fault.with;
};
