/** Drops the entries of objects that are gone from a tracker in memory. */
export const deleteWhere = (entries: Map<string, unknown> | Set<string>, isGone: (key: string) => boolean): void => {
  for (const key of entries.keys()) if (isGone(key)) entries.delete(key);
};
