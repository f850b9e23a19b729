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
const askEvery = 10;

/**
 * Looks at one process again and again: each look sees whether its number is gone, and only some ask ps, which is a process of its own,
 * whether it is still the same one.
 */
export const seldomAsking = (processes: ProcessTable, exists: ProcessExists): ProcessTable => {
  let looks = 0;
  let known: ReturnType<ProcessTable['find']> | undefined;
  return {
    list: () => processes.list(),
    find: async (pid) => {
      if (!exists(pid)) return undefined;
      if (known === undefined || looks % askEvery === 0) known = processes.find(pid);
      looks += 1;
      try {
        return await known;
      } catch (error) {
        known = undefined;
        throw error;
      }
    },
  };
};
