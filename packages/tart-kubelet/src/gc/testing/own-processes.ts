import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createProcessTable, type HostProcess, type ProcessTable } from '@tartan/tart';

type Environment = Readonly<Record<string, string | undefined>>;

const ticksPerSecond = 100;

/** Reads a process from /proc, see proc_pid_stat(5). `undefined`: the process is gone, or a zombie, which has no command line. */
const fromProc = (pid: number, folder = ''): HostProcess | undefined => {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trimEnd();
    if (command === '' || !command.includes(folder)) return undefined;
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name may contain anything. After it, the 22nd field is the start time, in ticks since this machine booted.
    const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
    const booted = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]);
    return { pid, startedAt: (booted + Math.floor(ticks / ticksPerSecond)) * 1000, command };
  } catch {
    return undefined;
  }
};

/**
 * The processes of the Mac in `folder`. Filters out the `tart` processes of other tests on this machine. Where there is /proc, it does not
 * run ps: each ps reads all processes of the machine, which took a quarter of the CPU time of these tests.
 */
export const ownProcesses = (folder: string, environment: Environment): ProcessTable => {
  const table = createProcessTable(environment);
  if (!existsSync('/proc/self/stat'))
    return { ...table, list: async () => (await table.list()).filter(({ command }) => command.includes(folder)) };
  return {
    list: async () =>
      readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? fromProc(Number(name), folder) : undefined) ?? []),
    find: async (pid) => fromProc(pid),
  };
};
