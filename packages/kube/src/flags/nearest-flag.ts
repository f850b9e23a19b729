/**
 * How many letters have to be added, left out, changed or swapped with their neighbour to make one text the other
 * (optimal string alignment).
 */
export const editDistance = (a: string, b: string): number => {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let best = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) best = Math.min(best, (beforeLast[column - 2] ?? 0) + 1);
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
};

/** Far longer than any name: keeps the work bounded when somebody passes a file as a flag. */
const comparedLetters = 80;

/** The first of `names` that is nearest. Capitals and underscores are what people mistype in names like these. */
export const nearestTo = (given: string, names: readonly string[]): string | undefined => {
  const text = given.slice(0, comparedLetters).toLowerCase().replaceAll('_', '-');
  let nearest: { name: string; distance: number } | undefined;
  for (const name of names) {
    const distance = editDistance(text, name);
    if (nearest === undefined || distance < nearest.distance) nearest = { name, distance };
  }
  return nearest?.name;
};
