const pairsIn = (text: string): string[] => {
  // The end marks make a first and a last letter count as much as the others.
  const letters = `^${text.toLowerCase().replaceAll('_', '-').slice(0, 80)}$`;
  return Array.from({ length: letters.length - 1 }, (_, at) => letters.slice(at, at + 2));
};

/** How alike two texts are by the pairs of letters that they share, from 0 to 1 (Dice). */
const likeness = (one: string, other: string): number => {
  const left = pairsIn(one);
  const rest = pairsIn(other);
  const total = left.length + rest.length;
  let shared = 0;
  for (const pair of left) {
    const at = rest.indexOf(pair);
    if (at < 0) continue;
    rest.splice(at, 1);
    shared += 1;
  }
  return (2 * shared) / total;
};

/** The one that was most likely meant. */
export const nearest = (given: string, names: readonly string[]): string | undefined =>
  names.toSorted((a, b) => likeness(given, b) - likeness(given, a))[0];
