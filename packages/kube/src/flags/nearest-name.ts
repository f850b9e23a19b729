const letterPairs = (text: string): Set<string> => {
  // Longer than any flag name: bounds the work for a huge argument.
  const letters = `^${text.slice(0, 80).toLowerCase().replaceAll('_', '-')}$`;
  return new Set(Array.from({ length: letters.length - 1 }, (_, at) => letters.slice(at, at + 2)));
};

/** From 0 to 1: the share of letter pairs that two names have in common. */
export const similarity = (a: string, b: string): number => {
  const [pairs, others] = [letterPairs(a), letterPairs(b)];
  return (2 * pairs.intersection(others).size) / (pairs.size + others.size);
};

export const nearestName = (given: string, names: readonly string[]): string | undefined =>
  names.toSorted((a, b) => similarity(given, b) - similarity(given, a))[0];
