import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

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
export const processStart = (pid: number): string | undefined =>
  existsSync('/proc/self/stat') ? fromProc(pid) : fromPs(pid);
