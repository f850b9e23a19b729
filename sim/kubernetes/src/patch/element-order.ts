/** What tells elements of a list apart: the value of the merge key, or the element itself. */
export type Identity = (element: unknown) => unknown;

/**
 * The order of a merged list. What the patch names stands in the order of the patch, what only the server knows in the order
 * in which it stood; and the latter goes in front of the former wherever it stood there before.
 */
export const inOrder = (
  elements: readonly unknown[],
  patchOrder: readonly unknown[],
  serverOrder: readonly unknown[],
  identity: Identity,
): unknown[] => {
  const ranks = (list: readonly unknown[]): Map<unknown, number> => {
    const found = new Map<unknown, number>();
    for (const [index, element] of list.entries()) {
      if (!found.has(identity(element))) found.set(identity(element), index);
    }
    return found;
  };
  const inPatch = ranks(patchOrder);
  const onServer = ranks(serverOrder);
  const place = (rank: Map<unknown, number>, element: unknown): number =>
    rank.get(identity(element)) ?? elements.length;
  const sortedBy = (rank: Map<unknown, number>, list: unknown[]): unknown[] =>
    list.sort((a, b) => place(rank, a) - place(rank, b));

  const named = sortedBy(
    inPatch,
    elements.filter((element) => inPatch.has(identity(element))),
  );
  const result: unknown[] = [];
  const others = sortedBy(
    onServer,
    elements.filter((element) => !inPatch.has(identity(element))),
  );
  const stoodBefore = (a: unknown, b: unknown): boolean => {
    const left = onServer.get(identity(a));
    const right = onServer.get(identity(b));
    return left !== undefined && right !== undefined && left < right;
  };
  for (const element of named) {
    while (others.length > 0 && stoodBefore(others[0], element)) result.push(others.shift());
    result.push(element);
  }
  return [...result, ...others];
};
