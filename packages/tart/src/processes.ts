import { execFile } from 'node:child_process';
import { TartError } from './tart-error.ts';

/** A pid with its start time identifies a process; a pid alone is reused (INC-51). */
export interface ProcessIdentity {
  readonly pid: number;
  /** Milliseconds since the epoch, with a precision of one second. */
  readonly startedAt: number;
}

export interface HostProcess extends ProcessIdentity {
  /** The whole command line, joined by spaces. */
  readonly command: string;
}

/** The processes of this Mac. Every call reads them anew. Rejects with a TartError when they cannot be read: then no process counts as gone. */
export interface ProcessTable {
  list(): Promise<readonly HostProcess[]>;
  /** `undefined`: no such process, or a zombie. */
  find(pid: number): Promise<HostProcess | undefined>;
}

/** On some systems ps computes the start from the uptime, so it may vary by a second between calls. */
const toleranceMs = 2000;

export const isSameProcess = (one: ProcessIdentity, other: ProcessIdentity): boolean =>
  one.pid === other.pid && Math.abs(one.startedAt - other.startedAt) <= toleranceMs;

/** Parses `ps -o pid=,stat=,lstart=,command=` in the C locale and in UTC. Skips zombies. */
export const parseProcesses = (text: string): readonly HostProcess[] =>
  text.split('\n').flatMap((line) => {
    const [, pid, state, started, command] =
      /^\s*(\d+)\s+(\S+)\s+\w{3}\s+(\w{3}\s+\d{1,2}\s+\d\d:\d\d:\d\d\s+\d{4})\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined || state === undefined || started === undefined || command === undefined) return [];
    const startedAt = Date.parse(`${started} UTC`);
    return state.startsWith('Z') || Number.isNaN(startedAt) ? [] : [{ pid: Number(pid), startedAt, command }];
  });

/** `isGone`: whether exit code 1 with this output means that the process does not exist. */
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

/** Uses ps(1), which both Macs and developer machines have. */
export const createProcessTable = (environment: Readonly<Record<string, string | undefined>>): ProcessTable => ({
  list: async () => {
    const processes = await listProcesses(['-A'], environment);
    // The list has at least this process.
    if (processes.length > 0) return processes;
    throw new TartError('unreadable', 'ps lists no process at all', { command: 'ps' });
  },
  find: async (pid) => (await listProcesses(['-p', String(pid)], environment)).find((one) => one.pid === pid),
});

/** A running tart command, started by this agent or not. */
export interface TartProcess extends ProcessIdentity {
  /** `run`, `push`, `clone`. */
  readonly command: string;
  /** The rest of the command line; ps joins the words, so they cannot be split reliably. */
  readonly rest: string;
}

export interface VmProcess extends ProcessIdentity {
  readonly name: string;
}

/**
 * `tart`, with or without a path, possibly run by a shell (as our wrapper is, briefly). Anchored: an editor with a file of this name
 * does not match (INC-51). A path with spaces matches only if it is in `paths`.
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

/** Options of `run` that take a value. */
const optionsWithValue = new Set(
  '--dir --disk --root-disk-opts --net-bridged --net-softnet-allow --net-softnet-block --net-softnet-expose --serial-path'.split(
    ' ',
  ),
);

/** The word after `run`, where this driver puts it; others may put options first. */
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

/** Running VMs, started by this agent or not. Compares whole names: `x` is not running because `x-2` is (INC-51). */
export const vmProcesses = (processes: readonly HostProcess[], paths: readonly string[] = []): readonly VmProcess[] =>
  tartProcesses(processes, paths).flatMap(({ pid, startedAt, command, rest }) => {
    const name = command === 'run' ? vmNameIn(rest) : undefined;
    return name === undefined ? [] : [{ pid, startedAt, name }];
  });

/** Resources used by a process. */
export interface ProcessUsage {
  readonly cpuSeconds: number;
  /** Resident memory. */
  readonly memoryBytes: number;
}

/** By pid; skips processes that have exited. Rejects with a TartError when ps fails. */
export type ReadProcessUsage = (pids: readonly number[]) => Promise<ReadonlyMap<number, ProcessUsage>>;

/** `1-02:03:04` and `02:03:04` on Linux, `123:45.67` on macOS: seconds are last, each part before counts 60 times the next. */
const secondsIn = (text: string): number => {
  const [, days = '0', rest = 'unknown'] = /^(?:(\d+)-)?([\d:.]+)$/.exec(text) ?? [];
  const parts = rest.split(':').map(Number);
  return Number(days) * 86_400 + parts.reduce((sum, part) => sum * 60 + part, 0);
};

/** Parses `ps -o pid=,time=,rss=`; memory is in KiB on both systems. */
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
 * Uses ps(1). Caveat: macOS runs the guest in a service of the Virtualization framework that ps does not relate to its `tart run`, so
 * this is only tart's own share. Not yet measured on a Mac.
 */
export const createProcessUsage =
  (environment: Readonly<Record<string, string | undefined>>): ReadProcessUsage =>
  async (pids) =>
    pids.length === 0
      ? new Map()
      : // Exit code 1: at least one of them is gone.
        parseUsage(await runPs(['-p', pids.join(','), '-o', 'pid=,time=,rss='], environment, () => true));
