/** Who works with a local name, so that nobody deletes it meanwhile. Within this process: others are seen by their processes. */
export const createHolds = () => {
  const held = new Map<string, number>();
  const deletes = new Map<string, Promise<void>>();
  return {
    /** Keeps it from being deleted until the returned function is called. Waits for a delete that is under way. */
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
    /** `false`, without doing anything: it is held, or another delete is under way. Never waits. */
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
