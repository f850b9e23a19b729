import { globSync, readFileSync } from 'node:fs';

interface TreeUsage {
  readonly pids: readonly number[];
  /** Resident memory of all processes, in MB. */
  readonly megabytes: number;
  /** CPU time of all processes so far, in seconds. */
  readonly cpuSeconds: number;
}

const ticksPerSecond = 100;

const readStat = (pid: number): { readonly parent: number; readonly ticks: number } | undefined => {
  try {
    // After the name of the program, which may contain spaces: the parent, then utime and stime as the 12th and 13th field.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return undefined;
  }
};

const megabytesOf = (pid: number): number => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return (Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024) / 1e6;
  } catch {
    return 0;
  }
};

export const isRunning = (pid: number): boolean => readStat(pid) !== undefined;

/** A process and all its descendants. */
export const usageOfTree = (root: number): TreeUsage => {
  const children = new Map<number, number[]>();
  const ticks = new Map<number, number>();
  for (const path of globSync('/proc/[0-9]*')) {
    const pid = Number(path.slice('/proc/'.length));
    const stat = readStat(pid);
    if (stat === undefined) continue;
    ticks.set(pid, stat.ticks);
    children.set(stat.parent, [...(children.get(stat.parent) ?? []), pid]);
  }
  const pids: number[] = [];
  for (const pending = [root]; pending.length > 0; ) {
    const pid = pending.pop() ?? root;
    pids.push(pid);
    pending.push(...(children.get(pid) ?? []));
  }
  const sum = (of: (pid: number) => number): number => pids.reduce((total, pid) => total + of(pid), 0);
  return { pids, megabytes: sum(megabytesOf), cpuSeconds: sum((pid) => ticks.get(pid) ?? 0) / ticksPerSecond };
};
