/** Lets a few in at a time, in order of arrival. */
export interface Slots {
  /** Calls `enter` when there is room, never before `take` has returned. The answer leaves the queue, or gives the room back. */
  take(enter: () => void): () => void;
}

export const slots = (limit: number): Slots => {
  let taken = 0;
  const waiting = new Set<() => void>();
  const admit = (): void => {
    for (const enter of waiting) {
      if (taken >= limit) return;
      waiting.delete(enter);
      taken++;
      enter();
    }
  };
  return {
    take: (enter) => {
      let state: 'waits' | 'inside' | 'left' = 'waits';
      const come = (): void => {
        state = 'inside';
        queueMicrotask(() => {
          if (state === 'inside') enter();
        });
      };
      waiting.add(come);
      admit();
      return () => {
        const before = state;
        state = 'left';
        waiting.delete(come);
        if (before !== 'inside') return;
        taken--;
        admit();
      };
    },
  };
};
