import type { Clock } from '@tartan/kube/clock';
import { collectOutput, type Tart } from '@tartan/tart';
import type { GuestDiskUsage } from './host-facts.ts';

/**
 * The usage of a file system in percent, from `df -k`. The output comes from an untrusted guest: `undefined` unless it is a df line
 * with three block counts and a percentage. Ignores macOS' later column for inodes.
 */
export const parseUsedPercent = (text: string): number | undefined => {
  const last = text.trimEnd().split('\n').at(-1) ?? '';
  const [, share] = /^\S.{0,512}? \d{1,18} +\d{1,18} +-?\d{1,18} +(\d{1,3})%(?: |$)/.exec(last.slice(0, 2048)) ?? [];
  const percent = Number(share ?? Number.NaN);
  return percent >= 0 && percent <= 100 ? percent : undefined;
};

/** A busy guest agent responds within seconds, or not at all. */
const deadlineMs = 15_000;
/** A disk fills over minutes; each check costs a process here and one in the guest. */
const intervalMs = 3 * 60_000;
/** df writes some hundred bytes. */
const maxOutputBytes = 4096;

interface Reading {
  /** Time of the last check, monotonic clock. */
  readonly at: number;
  /** The last successful result, if any. */
  readonly usedPercent: number | undefined;
}

/** Disk usage of these VMs, refreshed every few minutes. If a guest does not respond, its last value is returned. Never rejects. */
type ReadGuestDisks = (vms: readonly string[], signal: AbortSignal) => Promise<readonly GuestDiskUsage[]>;

/** Runs df in the guests: the host cannot see that a guest's disk is full (INC-39). In parallel, as each may take its whole deadline. */
export const createGuestDiskReader = (tart: Pick<Tart, 'exec'>, clock: Clock): ReadGuestDisks => {
  const readings = new Map<string, Reading>();

  const runDf = async (vm: string, signal: AbortSignal): Promise<number | undefined> => {
    try {
      const session = tart.exec(vm, ['/bin/df', '-k', '/'], { deadlineMs, signal });
      const { result, stdout, truncated } = await collectOutput(session, maxOutputBytes);
      return result.kind === 'exited' && result.code === 0 && !truncated ? parseUsedPercent(stdout) : undefined;
    } catch {
      return undefined;
    }
  };
  const refresh = async (vm: string, signal: AbortSignal): Promise<void> => {
    const before = readings.get(vm);
    const at = clock.monotonic();
    if (before !== undefined && at - before.at < intervalMs) return;
    const usedPercent = (await runDf(vm, signal)) ?? before?.usedPercent;
    readings.set(vm, { at, usedPercent });
  };

  return async (vms, signal) => {
    for (const vm of readings.keys()) if (!vms.includes(vm)) readings.delete(vm);
    await Promise.all(vms.map((vm) => refresh(vm, signal)));
    return vms.flatMap((vm) => {
      const usedPercent = readings.get(vm)?.usedPercent;
      return usedPercent === undefined ? [] : [{ vm, usedPercent }];
    });
  };
};
