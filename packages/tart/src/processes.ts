import { execFile } from 'node:child_process';
import { TartError } from './tart-error.ts';

/** A process and the moment it began: together they name it for good, while a number alone is given out again (G27). */
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

const ask = (args: readonly string[], environment: Readonly<Record<string, string | undefined>>): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { env: { ...environment, LC_ALL: 'C', TZ: 'UTC' }, timeout: 10_000, maxBuffer: 16 * 1024 * 1024 };
    execFile('ps', [...args, '-ww', '-o', 'pid=,stat=,lstart=,command='], options, (error, stdout) => {
      // 1 and nothing written: no such process.
      if (error === null || (error.code === 1 && stdout.trim() === '')) resolve(stdout);
      else
        reject(
          new TartError('unreadable', 'The processes of this Mac could not be listed', { command: 'ps', cause: error }),
        );
    });
  });

/** By ps(1), which the Macs and the machines of developers have alike. */
export const createProcessTable = (environment: Readonly<Record<string, string | undefined>>): ProcessTable => ({
  list: async () => {
    const processes = parseProcesses(await ask(['-A'], environment));
    // This process at least is there.
    if (processes.length > 0) return processes;
    throw new TartError('unreadable', 'ps lists no process at all', { command: 'ps' });
  },
  find: async (pid) => parseProcesses(await ask(['-p', String(pid)], environment)).find((one) => one.pid === pid),
});
