import type { Clock } from '@tartan/kube/clock';
import { collectExec, type Tart } from '@tartan/tart';
import type { GuestDisk } from '../node/host-facts.ts';
import { parseUsedPercent } from './parse-df.ts';

/** A guest agent that is busy answers within seconds, or not at all (§2.5). */
const deadlineMs = 15_000;
/** A disk fills over minutes; each look is a process here and one in the guest. */
const intervalMs = 3 * 60_000;
/** df needs some hundred bytes. */
const mostOutput = 4096;

interface Look {
  /** When it was last asked, on the monotonic clock. */
  readonly at: number;
  /** The last answer, if there ever was one. */
  readonly usedPercent: number | undefined;
}

/** The disks of these virtual machines, each asked every few minutes. Of one that does not answer the last answer counts. Never rejects. */
export type LookAtGuestDisks = (vms: readonly string[], signal: AbortSignal) => Promise<readonly GuestDisk[]>;

/**
 * Asks the guests themselves: the host's figures do not show that a guest's disk is full (INC-39). All at once, as each may take its whole
 * deadline.
 */
export const createGuestDisks = (tart: Pick<Tart, 'exec'>, clock: Clock): LookAtGuestDisks => {
  const looks = new Map<string, Look>();

  const ask = async (vm: string, signal: AbortSignal): Promise<number | undefined> => {
    try {
      const session = tart.exec(vm, ['/bin/df', '-k', '/'], { deadlineMs, signal });
      const { end, stdout, cut } = await collectExec(session, mostOutput);
      return end.kind === 'exited' && end.code === 0 && !cut ? parseUsedPercent(stdout) : undefined;
    } catch {
      return undefined;
    }
  };
  const look = async (vm: string, signal: AbortSignal): Promise<void> => {
    const before = looks.get(vm);
    const at = clock.monotonic();
    if (before !== undefined && at - before.at < intervalMs) return;
    const usedPercent = (await ask(vm, signal)) ?? before?.usedPercent;
    looks.set(vm, { at, usedPercent });
  };

  return async (vms, signal) => {
    for (const vm of looks.keys()) if (!vms.includes(vm)) looks.delete(vm);
    await Promise.all(vms.map((vm) => look(vm, signal)));
    return vms.flatMap((vm) => {
      const usedPercent = looks.get(vm)?.usedPercent;
      return usedPercent === undefined ? [] : [{ vm, usedPercent }];
    });
  };
};
