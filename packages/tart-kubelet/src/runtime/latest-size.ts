import type { TerminalSize } from '../api/pod-runtime.ts';

/** Sets sizes one after the other: of those that come meanwhile only the last counts, and it is never overtaken by an older one. */
export const latestSize = (set: (size: TerminalSize) => Promise<void>): ((size: TerminalSize) => void) => {
  let wanted: TerminalSize | undefined;
  let isBusy = false;
  const work = async (): Promise<void> => {
    isBusy = true;
    for (let size = wanted; size !== undefined; size = wanted) {
      wanted = undefined;
      await set(size);
    }
    isBusy = false;
  };
  return (size) => {
    wanted = size;
    if (!isBusy) void work();
  };
};
