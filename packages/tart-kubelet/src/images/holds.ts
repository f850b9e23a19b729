/** Local names in use by this process, so that the collector does not delete them. Other processes are found in the process table. */
export const createHolds = () => {
  const held = new Map<string, number>();
  const deletes = new Map<string, Promise<void>>();
  return {
    /** Prevents its deletion until the returned function is called. Waits for a deletion in progress. */
    hold: async (name: string) => {
      for (let under = deletes.get(name); under !== undefined; under = deletes.get(name)) await under;
      held.set(name, (held.get(name) ?? 0) + 1);
      let over = false;
      return () => {
        if (over) return;
        over = true;
        const left = (held.get(name) ?? 1) - 1;
        if (left === 0) held.delete(name);
        else held.set(name, left);
      };
    },
    /** Resolves with `false`, without calling `work`, if it is held or being deleted. Never waits. */
    ifUnheld: async (name: string, work: () => Promise<void>) => {
      if (held.has(name) || deletes.has(name)) return false;
      const { promise, resolve } = Promise.withResolvers<void>();
      deletes.set(name, promise);
      try {
        await work();
        return true;
      } finally {
        deletes.delete(name);
        resolve();
      }
    },
    names: () => new Set(held.keys()),
  };
};

export type Holds = ReturnType<typeof createHolds>;
