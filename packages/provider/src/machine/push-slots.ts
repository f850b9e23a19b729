/**
 * How many Macs are worked on at a time: memory and network of the manager are sized by it (I-44). There are more workers than slots, so
 * that a machine that only has to be looked at, or deleted, does not wait for pushes.
 */
export interface PushSlots {
  /** Undefined when all are taken. The function gives it back; more than once is once. */
  take(): (() => void) | undefined;
  readonly taken: number;
}

export const createPushSlots = (most: number): PushSlots => {
  let taken = 0;
  return {
    take: () => {
      if (taken >= most) return undefined;
      taken += 1;
      let given = false;
      return () => {
        if (!given) taken -= 1;
        given = true;
      };
    },
    get taken() {
      return taken;
    },
  };
};
