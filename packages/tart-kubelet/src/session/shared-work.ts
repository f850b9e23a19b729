/** Work that several wait for at once and that is done once. It is given up when the last of them has left. */
export interface SharedWork {
  /** Begins it, or waits for the one that is under way. Rejects with the signal's reason when that fires. */
  join(signal: AbortSignal): Promise<void>;
}

export const createSharedWork = (work: (signal: AbortSignal) => Promise<void>): SharedWork => {
  let underWay: { readonly done: Promise<void>; readonly gaveUp: AbortController; waiting: number } | undefined;

  const begin = () => {
    const gaveUp = new AbortController();
    const mine = {
      gaveUp,
      waiting: 0,
      done: work(gaveUp.signal).finally(() => {
        if (underWay === mine) underWay = undefined;
      }),
    };
    // Whoever left does not hear of it.
    mine.done.catch(() => {});
    return mine;
  };

  return {
    join: async (signal) => {
      signal.throwIfAborted();
      const mine = (underWay ??= begin());
      mine.waiting += 1;
      const left = Promise.withResolvers<never>();
      const leave = (): void => left.reject(signal.reason);
      signal.addEventListener('abort', leave, { once: true });
      try {
        await Promise.race([mine.done, left.promise]);
      } finally {
        signal.removeEventListener('abort', leave);
        mine.waiting -= 1;
        if (mine.waiting === 0 && underWay === mine) {
          underWay = undefined;
          mine.gaveUp.abort(signal.reason);
        }
      }
    },
  };
};
