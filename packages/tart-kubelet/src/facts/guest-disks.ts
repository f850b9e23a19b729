import type { Clock } from '@tartan/kube/clock';
import { collectOutput, type Tart } from '@tartan/tart';
import type { GuestDiskUsage } from './host-facts.ts';

/**
 * How full `df -k` says that a file system is, in percent. A guest writes this text, and may write anything: `undefined` unless it is a
 * line of df with three numbers of blocks and their share. The share of inodes, further right on macOS, is another matter.
 */
export const parseUsedPercent = (text: string): number | undefined => {
  const last = text.trimEnd().split('\n').at(-1) ?? '';
  const [, share] = /^\S.{0,512}? \d{1,18} +\d{1,18} +-?\d{1,18} +(\d{1,3})%(?: |$)/.exec(last.slice(0, 2048)) ?? [];
  const percent = Number(share ?? Number.NaN);
  return percent >= 0 && percent <= 100 ? percent : undefined;
};

/** A guest agent that is busy answers within seconds, or not at all. */
const deadlineMs = 15_000;
/** A disk fills over minutes; each look is a process here and one in the guest. */
const intervalMs = 3 * 60_000;
/** df needs some hundred bytes. */
const maxOutputBytes = 4096;

interface Reading {
  /** When it was last asked, on the monotonic clock. */
  readonly at: number;
  /** The last answer, if there ever was one. */
  readonly usedPercent: number | undefined;
}

/** The disks of these virtual machines, each asked every few minutes. Of one that does not answer the last answer counts. Never rejects. */
type ReadGuestDisks = (vms: readonly string[], signal: AbortSignal) => Promise<readonly GuestDiskUsage[]>;

/**
 * Asks the guests themselves: the host's figures do not show that a guest's disk is full (INC-39). All at once, as each may take its whole
 * deadline.
 */
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
