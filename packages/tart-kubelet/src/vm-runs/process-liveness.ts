import type { ProcessTable } from '@tartan/tart';
import { errorCode } from '../file-errors.ts';

/** Whether the pid exists. Costs one system call. */
export type ProcessExists = (pid: number) => boolean;

export const processExists: ProcessExists = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Any other error means that the process exists, possibly of another user.
    return errorCode(error) !== 'ESRCH';
  }
};

/** One check in this many runs ps. */
const psEvery = 10;

/**
 * Finds one process repeatedly. Each check sees whether the pid is gone; only some run ps, which costs a process, to see whether it
 * is still the same process.
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
