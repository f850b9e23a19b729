const pairsIn = (text: string): Set<string> =>
  new Set(Array.from({ length: text.length + 1 }, (_, at) => `^${text.toLowerCase()}$`.slice(at, at + 2)));

/** The name that shares the most pairs of letters with what was typed, in proportion to their length. */
export const nearestOf = (typed: string, names: readonly string[]): string | undefined => {
  const pairs = pairsIn(typed);
  const likeness = (name: string): number => {
    const others = pairsIn(name);
    return (2 * pairs.intersection(others).size) / (pairs.size + others.size);
  };
  return names.toSorted((a, b) => likeness(b) - likeness(a))[0];
};
