/** A value that is costly to get: kept while it is fresh, got once for all who ask at the same time. */
export interface Cached<T> {
  get(): Promise<T>;
  /** The next `get` gets it anew. One under way is new enough. */
  drop(): void;
}

export interface CachedOptions<T> {
  load: () => Promise<T>;
  isFresh: (value: T, loadedAt: number) => boolean;
  now: () => number;
  /** What was good a minute ago is better than nothing while a file is being replaced. Not after `drop`. */
  keepOnFailure?: boolean;
}

export const cached = <T>({ load, isFresh, now, keepOnFailure = false }: CachedOptions<T>): Cached<T> => {
  let kept: { value: T; loadedAt: number } | undefined;
  let underWay: Promise<T> | undefined;
  const renew = async (): Promise<T> => {
    try {
      const value = await load();
      kept = { value, loadedAt: now() };
      return value;
    } catch (error) {
      if (kept !== undefined && keepOnFailure) return kept.value;
      throw error;
    } finally {
      underWay = undefined;
    }
  };
  return {
    get: () => {
      if (kept !== undefined && isFresh(kept.value, kept.loadedAt)) return Promise.resolve(kept.value);
      underWay ??= renew();
      return underWay;
    },
    drop: () => {
      kept = undefined;
    },
  };
};
