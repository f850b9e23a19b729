import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { replaceAtomically } from './replace-file.ts';

/** The state and the start of a process as /proc tells them: the start counts from the boot of this machine, so that is named too. */
const fromProc = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Behind the name, which may hold anything: the third field is the state, the 22nd the start (proc_pid_stat(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Dead, and only not fetched by its parent yet.
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

/** When a process that lives was started, in words that no other process with its number will ever have; nothing if there is none. */
const processIdentity = (pid: number): string | undefined =>
  existsSync('/proc/self/stat') ? fromProc(pid) : fromPs(pid);

/** That a process of this machine plays a Mac. */
interface MacLock {
  /** Who played it before was killed and cleared nothing away. */
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

/** Takes a Mac for this process. Two that play the same one would end each other's processes. */
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
      // Somebody else may have come in since.
      if (isMine) rmSync(file, { force: true });
      isMine = false;
    },
  };
};
