import type { Logger } from '@tartan/kube';
import { type Clock, sleep } from '@tartan/kube/clock';
import { type ProcessTable, vmProcesses } from '@tartan/tart';
import type { Guests } from '../guest/guests.ts';
import type { Holds } from '../images/holds.ts';
import type { ImageRecords } from '../images/image-records.ts';
import { parseReference } from '../images/image-reference.ts';
import type { LocalImages } from '../images/local-images.ts';
import type { Journal } from '../journal/journal.ts';
import type { LogFiles } from '../logs/log-files.ts';
import type { VmRuns } from '../vm-runs/vm-runs.ts';
import type { BoundPod } from './pods-on-node.ts';

interface ImageRecordDeps {
  readonly records: Pick<ImageRecords, 'names' | 'forget'>;
  readonly local: Pick<LocalImages, 'has' | 'hasVm'>;
  readonly holds: Pick<Holds, 'names'>;
}

const isOnDisk = (local: ImageRecordDeps['local'], name: string): Promise<boolean> => {
  const { digest, repository } = parseReference(name) ?? {};
  return repository === undefined || digest === undefined ? local.hasVm(name) : local.has({ repository, digest });
};

/**
 * Removes ownership records without image or base: the agent crashed between the deletion and the record, or a user deleted it.
 * Otherwise the same image, pulled later by a user, would count as ours (B5). Skips held names: they may be being pulled.
 */
export const pruneImageRecords = async ({ holds, local, records }: ImageRecordDeps): Promise<readonly string[]> => {
  const pruned: string[] = [];
  for (const name of await records.names()) {
    if (holds.names().has(name) || (await isOnDisk(local, name))) continue;
    await records.forget(name);
    pruned.push(name);
  }
  return pruned;
};

export interface HousekeepingOptions {
  readonly guests: Pick<Guests, 'list' | 'remove'>;
  readonly logs: Pick<LogFiles, 'podUIDs'>;
  readonly runs: Pick<VmRuns, 'removeLogs'>;
  readonly journal: Pick<Journal, 'list'>;
  /** A live read from the API server. Rejects when it is unreachable. */
  readonly pods: (signal: AbortSignal) => Promise<readonly BoundPod[]>;
  readonly images: ImageRecordDeps;
  readonly processes: ProcessTable;
  readonly tartPaths: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

const intervalMs = 10 * 60_000;

/**
 * Removes guest and log folders that belong to no Pod: left after a lost journal, or after a user removed a Pod's finalizer. They may
 * contain a job's secrets (INC-404). Also runs with --disable-vm-gc, as only the agent uses these folders.
 *
 * Flow: folders → journal → processes → Pods, in this order, because a Pod and its record exist before its folders.
 * Guarantees: keeps folders that a Pod, a record or a running VM may use; in doubt keeps everything. Lists no Pods while each folder has
 * its record.
 */
export const createHousekeeping = (options: HousekeepingOptions) => {
  const { guests, logs, runs, journal, processes, tartPaths, clock, log } = options;

  const sweep = async (signal: AbortSignal): Promise<void> => {
    const pruned = await pruneImageRecords(options.images);
    if (pruned.length > 0) log.info('Forgot images that are not here any more', { forgotten: pruned });
    const [folders, podLogs] = [await guests.list(), await logs.podUIDs()];
    const { records, uids } = await journal.list();
    // An unreadable record has no VM name, but the VM name ends with the record's UID.
    const isRecorded = (vm: string): boolean =>
      records.some((record) => record.vm === vm) || uids.some((uid) => vm.endsWith(uid));
    let orphanedFolders = folders.filter((vm) => !isRecorded(vm));
    let orphanedLogs = podLogs.filter((uid) => !uids.includes(uid));
    if (orphanedFolders.length + orphanedLogs.length === 0) return;

    const running = vmProcesses(await processes.list(), tartPaths).map(({ name }) => name);
    const pods = await options.pods(signal);
    orphanedFolders = orphanedFolders.filter((vm) => !running.includes(vm) && !pods.some((pod) => pod.vm === vm));
    orphanedLogs = orphanedLogs.filter(
      (uid) => !pods.some((pod) => pod.uid === uid) && !running.some((vm) => vm.endsWith(uid)),
    );
    for (const vm of orphanedFolders) await guests.remove(vm);
    for (const uid of orphanedLogs) await runs.removeLogs(uid);
    if (orphanedFolders.length + orphanedLogs.length > 0)
      log.info('Removed files that belonged to no Pod', { guests: orphanedFolders, logs: orphanedLogs });
  };

  return {
    /** Rejects when any input cannot be read; then nothing was removed. */
    sweep,
    /** Runs at once, then every ten minutes, until `signal` fires. */
    run: async (signal: AbortSignal) => {
      while (!signal.aborted) {
        await sweep(signal).catch((error: unknown) => {
          if (!signal.aborted) log.warn('Files that belong to no Pod were not removed', { error });
        });
        await sleep(clock, intervalMs, signal);
      }
    },
  };
};
