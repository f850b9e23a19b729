const letterPairs = (text: string): Set<string> =>
  new Set(Array.from({ length: text.length + 1 }, (_, at) => `^${text.toLowerCase()}$`.slice(at, at + 2)));

/** From 0 to 1: the share of letter pairs that two names have in common. */
export const similarity = (a: string, b: string): number => {
  const [pairs, others] = [letterPairs(a), letterPairs(b)];
  return (2 * pairs.intersection(others).size) / (pairs.size + others.size);
};
