import type { Facts } from './host-facts.ts';

/** What a condition says, before it is known since when. */
export interface Claim {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  /** The same text for the same state: each change of it is a write to the API server. */
  readonly message: string;
}

/** Below this share of free space the host counts as full. */
const leastFreePercent = 10;
/** From this share on a guest counts as full. */
const mostUsedPercent = 90;

/** A disk of which nobody knows the size counts as empty. */
const freePercent = ({ freeBytes, totalBytes }: NonNullable<Facts['disk']>): number =>
  totalBytes > 0 ? (freeBytes / totalBytes) * 100 : 100;

/**
 * The host's disk first, then those of running guests: either hides the other's trouble (INC-39, INC-40). Unknown never: core counts
 * a Machine as not ready for it.
 */
export const diskPressure = ({ disk, guestDisks = [] }: Facts): Claim => {
  const pressure = (message: string): Claim => ({
    type: 'DiskPressure',
    status: 'True',
    reason: 'TartKubeletHasDiskPressure',
    message,
  });
  const free = disk === undefined ? 100 : freePercent(disk);
  if (free < leastFreePercent)
    return pressure(`The disk of the host has ${Math.floor(free)} % free, less than ${leastFreePercent} %.`);
  const full = guestDisks.filter(({ usedPercent }) => usedPercent >= mostUsedPercent);
  if (full.length > 0) {
    const each = full.map(({ vm, usedPercent }) => `${vm} at ${Math.floor(usedPercent)}%`).sort();
    return pressure(`Disks of guests are full: ${each.join(', ')}.`);
  }
  return {
    type: 'DiskPressure',
    status: 'False',
    reason: 'TartKubeletHasSufficientDisk',
    message: 'There is room on the disk of the host and on those of its guests.',
  };
};

export const memoryPressure = ({ memory }: Facts): Claim =>
  memory === 'critical'
    ? {
        type: 'MemoryPressure',
        status: 'True',
        reason: 'TartKubeletHasMemoryPressure',
        message: 'macOS says that memory is critically short.',
      }
    : {
        type: 'MemoryPressure',
        status: 'False',
        reason: 'TartKubeletHasSufficientMemory',
        message: 'macOS has memory enough.',
      };

/** Of the processes that macOS allows. */
const mostProcessesPercent = 90;

export const pidPressure = ({ processes }: Facts): Claim => {
  const { running, most } = processes ?? { running: 0, most: 0 };
  return most > 0 && (running / most) * 100 >= mostProcessesPercent
    ? {
        type: 'PIDPressure',
        status: 'True',
        reason: 'TartKubeletHasPIDPressure',
        message: `More than ${mostProcessesPercent} % of ${most} possible processes run.`,
      }
    : {
        type: 'PIDPressure',
        status: 'False',
        reason: 'TartKubeletHasSufficientPID',
        message: 'There is room for more processes.',
      };
};
