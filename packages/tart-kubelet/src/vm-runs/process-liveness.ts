import type { ProcessTable } from '@tartan/tart';
import { errorCode } from '../file-errors.ts';

/** Whether anybody has this number. Costs one system call. */
export type ProcessExists = (pid: number) => boolean;

export const processExists: ProcessExists = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Anything else is somebody, if of another user.
    return errorCode(error) !== 'ESRCH';
  }
};

/** One check in so many runs ps. */
const psEvery = 10;

/**
 * Finds one process again and again. Each check sees whether the PID is gone; only some run ps, which is a process of its own, to see
 * whether it is still the same process.
 */
export const throttledFind = (find: ProcessTable['find'], exists: ProcessExists): ProcessTable['find'] => {
  let checks = 0;
  let known: ReturnType<ProcessTable['find']> | undefined;
  return async (pid) => {
    if (!exists(pid)) return undefined;
    if (known === undefined || checks % psEvery === 0) known = find(pid);
    checks += 1;
    try {
      return await known;
    } catch (error) {
      known = undefined;
      throw error;
    }
  };
};
