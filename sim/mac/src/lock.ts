import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { replaceAtomically } from './replace-file.ts';

/** The state and start time of a process from /proc. The start time counts from the boot of this machine, so the boot id is included. */
const fromProc = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // After the name, which may contain anything: field 3 is the state, field 22 the start time (proc_pid_stat(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie: dead, but not reaped yet.
    if (fields[0] === 'Z') return undefined;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[19] ?? ''}`;
  } catch {
    return undefined;
  }
};

const fromPs = (pid: number): string | undefined => {
  try {
    const [state = 'Z', ...start] = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' })
      .trim()
      .split(/\s+/);
    return state.startsWith('Z') ? undefined : start.join(' ');
  } catch {
    return undefined;
  }
};

/** The start time of a live process, as a text that no later process with the same pid can have; undefined if it does not exist. */
const processIdentity = (pid: number): string | undefined =>
  existsSync('/proc/self/stat') ? fromProc(pid) : fromPs(pid);

/** The lock of a process on a Mac. */
interface MacLock {
  /** The last holder was killed and has not cleaned up. */
  readonly afterPowerCut: boolean;
  release(): void;
}

const readHolder = (file: string): { pid: number; start: string } | undefined => {
  try {
    const [pid = '', ...start] = readFileSync(file, 'utf8').trim().split(' ');
    return { pid: Number(pid), start: start.join(' ') };
  } catch {
    return undefined;
  }
};

/** Locks a Mac for this process. Two simulators of the same Mac would kill each other's processes. */
export const lockMac = (file: string): MacLock => {
  const before = readHolder(file);
  if (before !== undefined && processIdentity(before.pid) === before.start) {
    throw new Error(
      `The Mac in ${dirname(dirname(file))} is on already, in process ${before.pid}. Stop it there, or choose another folder.`,
    );
  }
  replaceAtomically(file, `${process.pid} ${processIdentity(process.pid) ?? ''}\n`);
  let isMine = true;
  return {
    afterPowerCut: before !== undefined,
    release: () => {
      // Another process may have taken the lock since.
      if (isMine) rmSync(file, { force: true });
      isMine = false;
    },
  };
};
