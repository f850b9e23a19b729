/** A part of the screen that asks for room. */
export interface Wish {
  /** Lines that it would fill. */
  readonly wants: number;
  /** Lines that it gets before others get more than theirs. */
  readonly least: number;
}

/** Shares lines out, the most important first: what each needs at least, then what is left. Answers one number for each. Pure. */
export const allot = (wishes: readonly Wish[], room: number): number[] => {
  let left = Math.max(0, room);
  const take = (lines: number): number => {
    const taken = Math.max(0, Math.min(lines, left));
    left -= taken;
    return taken;
  };
  const first = wishes.map(({ wants, least }) => take(Math.min(wants, least)));
  return first.map((given, at) => given + take((wishes[at]?.wants ?? 0) - given));
};
