import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createProcessTable, type HostProcess, type ProcessTable } from '@tartan/tart';

type Environment = Readonly<Record<string, string | undefined>>;

const ticksPerSecond = 100;

/**
 * From /proc, see proc_pid_stat(5). `undefined`: it is gone. A process that has ended and a thread of the kernel have neither a command line
 * nor memory; one that is just replaced by execve(2) has memory, and its command line follows at once.
 */
const fromProc = (pid: number, folder = ''): HostProcess | undefined => {
  try {
    for (;;) {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trimEnd();
      if (command !== '' && !command.includes(folder)) return undefined;
      // The name may contain anything. After it, the 22nd field is the start time, in ticks since this machine booted; then the memory.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const [ticks, memory] = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(19, 21)
        .map(Number);
      if (command === '' && memory === 0) return undefined;
      if (command === '') continue;
      const booted = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]);
      return { pid, startedAt: (booted + Math.floor((ticks ?? 0) / ticksPerSecond)) * 1000, command };
    }
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
