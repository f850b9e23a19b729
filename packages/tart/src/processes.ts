import { execFile } from 'node:child_process';
import { TartError } from './tart-error.ts';

/** A process and the moment it began: together they name it for good, while a number alone is given out again (INC-51). */
export interface ProcessIdentity {
  readonly pid: number;
  /** Milliseconds since the epoch, in whole seconds. */
  readonly startedAt: number;
}

export interface HostProcess extends ProcessIdentity {
  /** The whole command line, words joined by spaces. */
  readonly command: string;
}

/** The processes of this Mac. Each method reads anew, and rejects with a TartError when it cannot tell: then nobody is known to be gone. */
export interface ProcessTable {
  list(): Promise<readonly HostProcess[]>;
  /** `undefined`: there is no such process, or only its remains. */
  find(pid: number): Promise<HostProcess | undefined>;
}

/** ps computes the start from the uptime on some systems, and may be a second off from one call to the next. */
const toleranceMs = 2000;

export const isSameProcess = (one: ProcessIdentity, other: ProcessIdentity): boolean =>
  one.pid === other.pid && Math.abs(one.startedAt - other.startedAt) <= toleranceMs;

/** Lines of `ps -o pid=,stat=,lstart=,command=` in the C locale and in UTC. What died and waits for its parent is left out. */
export const parseProcesses = (text: string): readonly HostProcess[] =>
  text.split('\n').flatMap((line) => {
    const [, pid, state, started, command] =
      /^\s*(\d+)\s+(\S+)\s+\w{3}\s+(\w{3}\s+\d{1,2}\s+\d\d:\d\d:\d\d\s+\d{4})\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined || state === undefined || started === undefined || command === undefined) return [];
    const startedAt = Date.parse(`${started} UTC`);
    return state.startsWith('Z') || Number.isNaN(startedAt) ? [] : [{ pid: Number(pid), startedAt, command }];
  });

/** `isGone`: whether exit code 1, with this output, means that there is no such process. */
const runPs = (
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  isGone: (stdout: string) => boolean,
): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { env: { ...environment, LC_ALL: 'C', TZ: 'UTC' }, timeout: 10_000, maxBuffer: 16 * 1024 * 1024 };
    execFile('ps', args, options, (error, stdout) => {
      if (error === null || (error.code === 1 && isGone(stdout))) resolve(stdout);
      else
        reject(
          new TartError('unreadable', 'The processes of this Mac could not be listed', { command: 'ps', cause: error }),
        );
    });
  });

const listProcesses = async (
  selection: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<readonly HostProcess[]> => {
  const args = [...selection, '-ww', '-o', 'pid=,stat=,lstart=,command='];
  return parseProcesses(await runPs(args, environment, (stdout) => stdout.trim() === ''));
};

/** By ps(1), which the Macs and the machines of developers have alike. */
export const createProcessTable = (environment: Readonly<Record<string, string | undefined>>): ProcessTable => ({
  list: async () => {
    const processes = await listProcesses(['-A'], environment);
    // This process at least is there.
    if (processes.length > 0) return processes;
    throw new TartError('unreadable', 'ps lists no process at all', { command: 'ps' });
  },
  find: async (pid) => (await listProcesses(['-p', String(pid)], environment)).find((one) => one.pid === pid),
});

/** A call of tart that is under way, whoever made it. */
export interface TartProcess extends ProcessIdentity {
  /** `run`, `push`, `clone`. */
  readonly command: string;
  /** The rest of the command line; words cannot be told apart for sure, since ps joins them. */
  readonly rest: string;
}

export interface VmProcess extends ProcessIdentity {
  readonly name: string;
}

/**
 * `tart`, by a path or not, maybe read by a shell (as our wrapper for it is, for a moment). Anchored: an editor that has a file of this
 * name open is none (INC-51). A path with spaces is known only if it is one of `paths`.
 */
const tartCommandLine = /^(?:\S*\/)?(?:(?:ba|da|z)?sh )?(?:\S*\/)?tart (\S+)(?: (.*))?$/;

export const tartProcesses = (
  processes: readonly HostProcess[],
  paths: readonly string[] = [],
): readonly TartProcess[] =>
  processes.flatMap(({ pid, startedAt, command }) => {
    const path = paths.find((one) => command.startsWith(`${one} `));
    const [, subcommand, rest = ''] =
      tartCommandLine.exec(path === undefined ? command : `tart${command.slice(path.length)}`) ?? [];
    return subcommand === undefined ? [] : [{ pid, startedAt, command: subcommand, rest }];
  });

/** Options of `run` that take the next word. */
const optionsWithValue = new Set(
  '--dir --disk --root-disk-opts --net-bridged --net-softnet-allow --net-softnet-block --net-softnet-expose --serial-path'.split(
    ' ',
  ),
);

/** The word right after `run`, as this driver writes it; somebody else may have put options first. */
const vmNameIn = (rest: string): string | undefined => {
  const words = rest.split(' ');
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === undefined || word === '') continue;
    if (!word.startsWith('-')) return word;
    if (optionsWithValue.has(word)) at++;
  }
  return undefined;
};

/** Virtual machines that are on, whoever started them. Names are whole words: `x` is not on because `x-2` is (INC-51). */
export const vmProcesses = (processes: readonly HostProcess[], paths: readonly string[] = []): readonly VmProcess[] =>
  tartProcesses(processes, paths).flatMap(({ pid, startedAt, command, rest }) => {
    const name = command === 'run' ? vmNameIn(rest) : undefined;
    return name === undefined ? [] : [{ pid, startedAt, name }];
  });

/** What a process has used so far. */
export interface ProcessUsage {
  readonly cpuSeconds: number;
  /** What of it is in memory now. */
  readonly memoryBytes: number;
}

/** By process id; those that are gone are left out. Rejects with a TartError when nobody can tell. */
export type ReadProcessUsage = (pids: readonly number[]) => Promise<ReadonlyMap<number, ProcessUsage>>;

/** `1-02:03:04` and `02:03:04` on Linux, `123:45.67` on macOS: the last is seconds, what is left of it counts sixty each. */
const secondsIn = (text: string): number => {
  const [, days = '0', rest = 'unknown'] = /^(?:(\d+)-)?([\d:.]+)$/.exec(text) ?? [];
  const parts = rest.split(':').map(Number);
  return Number(days) * 86_400 + parts.reduce((sum, part) => sum * 60 + part, 0);
};

/** Lines of `ps -o pid=,time=,rss=`; memory is in KiB on both systems. */
export const parseUsage = (text: string): ReadonlyMap<number, ProcessUsage> =>
  new Map(
    text.split('\n').flatMap((line) => {
      const [, pid, time, memory] = /^\s*(\d+)\s+([\d:.-]+)\s+(\d+)\s*$/.exec(line) ?? [];
      const cpuSeconds = secondsIn(time ?? '');
      if (pid === undefined || memory === undefined || !Number.isFinite(cpuSeconds)) return [];
      return [[Number(pid), { cpuSeconds, memoryBytes: Number(memory) * 1024 }] as const];
    }),
  );

/**
 * By ps(1). Caveat: macOS runs the guest itself in a service of the Virtualization framework, which ps does not tie to its `tart run`:
 * what is seen is tart's own share, until somebody measures on a Mac.
 */
export const createProcessUsage =
  (environment: Readonly<Record<string, string | undefined>>): ReadProcessUsage =>
  async (pids) =>
    pids.length === 0
      ? new Map()
      : // Exit code 1: at least one of them is gone.
        parseUsage(await runPs(['-p', pids.join(','), '-o', 'pid=,time=,rss='], environment, () => true));
