import { execFile } from 'node:child_process';
import { TartError } from './tart-error.ts';

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
  (pids) =>
    new Promise((resolve, reject) => {
      if (pids.length === 0) return resolve(new Map());
      const options = { env: { ...environment, LC_ALL: 'C' }, timeout: 10_000 };
      const args = ['-p', pids.join(','), '-o', 'pid=,time=,rss='];
      execFile('ps', args, options, (error, stdout) => {
        // 1: at least one of them is gone.
        if (error === null || error.code === 1) resolve(parseUsage(stdout));
        else
          reject(new TartError('unreadable', 'What processes use could not be read', { command: 'ps', cause: error }));
      });
    });
