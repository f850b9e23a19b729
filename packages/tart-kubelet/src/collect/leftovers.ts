import type { Logger } from '@tartan/kube';
import { type Clock, sleep } from '@tartan/kube/clock';
import { type ProcessTable, vmProcesses } from '@tartan/tart';
import type { Guests } from '../guest/guests.ts';
import type { Journal } from '../journal/journal.ts';
import type { LogFiles } from '../logs/log-files.ts';
import type { Runs } from '../runs/runs.ts';
import { type DeletedImages, forgetDeleted } from './forget-deleted.ts';
import type { BoundPod } from './pods-on-node.ts';

export interface LeftoversOptions {
  readonly guests: Pick<Guests, 'list' | 'remove'>;
  readonly logs: Pick<LogFiles, 'podUIDs'>;
  readonly runs: Pick<Runs, 'remove'>;
  readonly journal: Pick<Journal, 'list'>;
  /** As the API server has them now. Rejects when it does not answer. */
  readonly pods: (signal: AbortSignal) => Promise<readonly BoundPod[]>;
  readonly images: DeletedImages;
  readonly processes: ProcessTable;
  readonly tartPaths: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly intervalMs?: number;
}

/** Folders of guests and of logs that belong to nobody: those of the agent alone, so also with --disable-vm-gc. */
export interface Leftovers {
  /** Rejects when anything that matters cannot be told; then nothing was removed. */
  sweep(signal: AbortSignal): Promise<void>;
  /** At once, and then every ten minutes, until `signal` fires. */
  run(signal: AbortSignal): Promise<void>;
}

const usualIntervalMs = 10 * 60_000;

/**
 * What a lost journal leaves behind, or a Pod whose finalizer somebody took away: secrets of a job among it (G4).
 *
 * Flow: folders → journal → processes → Pods, in this order: a Pod and its record are there before its folders.
 * Guarantees: what a Pod, a record or a running virtual machine may still use stays; in doubt everything does. As long as each folder has
 * its record, nobody is asked for Pods.
 */
export const createLeftovers = (options: LeftoversOptions): Leftovers => {
  const { guests, logs, runs, journal, processes, tartPaths, clock, log, intervalMs = usualIntervalMs } = options;

  const sweep = async (signal: AbortSignal): Promise<void> => {
    const forgotten = await forgetDeleted(options.images);
    if (forgotten.length > 0) log.info('Forgot images that are not here any more', { forgotten });
    const [folders, podLogs] = [await guests.list(), await logs.podUIDs()];
    const entries = await journal.list();
    const uids = new Set(entries.map((entry) => (entry.kind === 'record' ? entry.record.pod.uid : entry.uid)));
    const vms = new Set(entries.flatMap((entry) => (entry.kind === 'record' ? [entry.record.vm] : [])));
    // A record that cannot be read tells no name; but the name ends with the UID.
    const isRecorded = (vm: string): boolean => vms.has(vm) || [...uids].some((uid) => vm.endsWith(uid));
    let lostFolders = folders.filter((vm) => !isRecorded(vm));
    let lostLogs = podLogs.filter((uid) => !uids.has(uid));
    if (lostFolders.length + lostLogs.length === 0) return;

    const running = vmProcesses(await processes.list(), tartPaths).map(({ name }) => name);
    const pods = await options.pods(signal);
    lostFolders = lostFolders.filter((vm) => !running.includes(vm) && !pods.some((pod) => pod.vm === vm));
    lostLogs = lostLogs.filter(
      (uid) => !pods.some((pod) => pod.uid === uid) && !running.some((vm) => vm.endsWith(uid)),
    );
    for (const vm of lostFolders) await guests.remove(vm);
    for (const uid of lostLogs) await runs.remove(uid);
    if (lostFolders.length + lostLogs.length > 0)
      log.info('Removed files that belonged to no Pod', { guests: lostFolders, logs: lostLogs });
  };

  return {
    sweep,
    run: async (signal) => {
      while (!signal.aborted) {
        await sweep(signal).catch((error: unknown) => {
          if (!signal.aborted) log.warn('Files that belong to no Pod were not removed', { error });
        });
        await sleep(clock, intervalMs, signal);
      }
    },
  };
};
