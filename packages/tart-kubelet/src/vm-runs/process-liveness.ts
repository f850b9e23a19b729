import type { ProcessTable } from '@tartan/tart';

/** Whether anybody has this number. Costs one system call. */
export type ProcessExists = (pid: number) => boolean;

export const processExists: ProcessExists = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Anything else is somebody, if of another user.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
};

/** In looks. */
const psEvery = 10;

/**
 * Looks at one process again and again: each look sees whether its number is gone, and only some ask ps, which is a process of its own,
 * whether it is still the same one.
 */
export const throttledProcessTable = (processes: ProcessTable, exists: ProcessExists): ProcessTable => {
  let lookups = 0;
  let known: ReturnType<ProcessTable['find']> | undefined;
  return {
    list: () => processes.list(),
    find: async (pid) => {
      if (!exists(pid)) return undefined;
      if (known === undefined || lookups % psEvery === 0) known = processes.find(pid);
      lookups += 1;
      try {
        return await known;
      } catch (error) {
        known = undefined;
        throw error;
      }
    },
  };
};
