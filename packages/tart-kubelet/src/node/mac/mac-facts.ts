import { statfs } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import type { Clock } from '@tartan/kube/clock';
import type { AgentOptions } from '../../flags/index.ts';
import { hasAquaSession } from '../../session/aqua-session.ts';
import type { HostFacts, MemoryLevel } from '../host-facts.ts';
import { leaseSeconds } from './lease-time.ts';
import { nodeAddress } from './node-address.ts';
import { type Run, runCommand } from './run.ts';
import { systemInfo } from './system-info.ts';

/** What tells of virtual machines and images. Comes from whoever looks after those. */
export type TartFacts = Pick<HostFacts, 'guestDisks' | 'slots' | 'images' | 'labels' | 'runtime'>;

export interface MacFactsOptions {
  readonly options: Pick<AgentOptions, 'nodeIP' | 'nodeIPSource'>;
  /** Before every path of the Mac: nothing but on a simulated one. */
  readonly root: string;
  /** Whose console session virtual machines run in. */
  readonly uid: number;
  readonly tart: TartFacts;
  readonly clock: Clock;
  readonly run?: Run;
}

const levels: Readonly<Record<string, MemoryLevel>> = { 1: 'normal', 2: 'warning', 4: 'critical' };

/** An answer that costs a process, and seldom changes, is asked for again only after that time. A failure is not kept. */
const keptFor = <T>(
  clock: Clock,
  milliseconds: number,
  ask: (signal: AbortSignal) => Promise<T>,
): ((signal: AbortSignal) => Promise<T>) => {
  let kept: { readonly value: T; readonly since: number } | undefined;
  return async (signal) => {
    if (kept !== undefined && clock.monotonic() - kept.since < milliseconds) return kept.value;
    const value = await ask(signal);
    kept = { value, since: clock.monotonic() };
    return value;
  };
};

const minute = 60_000;

/** The facts of a real Mac. Whether virtual machines start is known to those who start them. */
export const macFacts = ({
  options,
  root,
  uid,
  tart,
  clock,
  run = runCommand,
}: MacFactsOptions): Omit<HostFacts, 'vmStart'> => {
  const tailscale = `${root}/usr/local/bin/tailscale`;
  return {
    ...tart,
    runtime: keptFor(clock, 5 * minute, (signal) => tart.runtime(signal)),
    disk: async () => {
      const { bavail, blocks, bsize } = await statfs(root === '' ? '/' : root);
      return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
    },
    memory: async (signal) => {
      const level = levels[await run('sysctl', ['-n', 'kern.memorystatus_vm_pressure_level'], signal)];
      if (level === undefined) throw new Error('macOS names a level of memory pressure that nobody knows');
      return level;
    },
    processes: keptFor(clock, minute, async (signal) => {
      const [most, list] = await Promise.all([
        run('sysctl', ['-n', 'kern.maxproc'], signal),
        run('ps', ['-axo', 'pid='], signal),
      ]);
      return { running: list.split('\n').length, most: Number.parseInt(most, 10) || 0 };
    }),
    guiSession: (signal) => hasAquaSession(run, uid, signal),
    system: keptFor(clock, 60 * minute, (signal) => systemInfo(run, signal)),
    leaseSeconds: keptFor(clock, 60 * minute, (signal) => leaseSeconds(run, root, signal)),
    address: (signal) => nodeAddress(options, { run, tailscale, interfaces: networkInterfaces }, signal),
  };
};
