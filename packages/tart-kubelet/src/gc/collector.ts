import type { Client, Logger } from '@tartan/kube';
import { sleep } from '@tartan/kube/clock';
import type { ImageRecords } from '../images/image-records.ts';
import type { Journal } from '../journal/journal.ts';
import { act } from './act.ts';
import { decide, type GarbageReason } from './decide.ts';
import { type GcDeps, observe } from './observe.ts';
import { createOpenFiles, type OpenFiles } from './open-files.ts';
import { createJournalLookup, createMarkerLookup, createOwnership } from './ownership.ts';
import { listPodsOnNode } from './pods-on-node.ts';

export interface CollectorOptions extends GcDeps {
  readonly log: Logger;
  readonly intervalMs?: number;
  /** Told of each thing that is gone. */
  readonly onCollected?: (reason: GarbageReason) => void;
}

/** Deletes what this agent made and nobody needs. With --disable-vm-gc there is none at all (B3). */
export interface Collector {
  /** One round now, after the one that is under way. Never rejects. */
  collect(): Promise<void>;
  /** Something has failed for lack of space: as much as it takes to be above the mark, and at least one thing. Never rejects. */
  freeSpace(): Promise<void>;
  /** A golden base was cloned from: its time starts anew. */
  markUsed(golden: string): void;
  /** A round at once, and then every five minutes, until `signal` fires. */
  run(signal: AbortSignal): Promise<void>;
}

const defaultIntervalMs = 5 * 60_000;

export const createCollector = (options: CollectorOptions): Collector => {
  const { clock, log, intervalMs = defaultIntervalMs } = options;
  const end = new AbortController();
  let lastUsed: ReadonlyMap<string, number> = new Map();
  let queue = Promise.resolve();

  const pass = async (lackOfSpace: boolean, signal: AbortSignal): Promise<void> => {
    /** What would not go is not tried again in this pass, so that it ends. */
    const failedNames = new Set<string>();
    const reported = new Set<string>();
    let outOfSpace = lackOfSpace;
    for (;;) {
      const before = lastUsed;
      const snapshot = await observe(options, { lastUsed, outOfSpace }, signal);
      if (signal.aborted) return;
      const decision = decide({ ...snapshot, held: snapshot.held.union(failedNames) });
      if (decision.kind === 'abort') {
        log.warn('Nothing is collected', { why: decision.why });
        return;
      }
      // What was used while we looked.
      const since = [...lastUsed].filter(([name, at]) => before.get(name) !== at);
      lastUsed = new Map([...decision.lastUsed, ...since]);
      for (const { name, reason } of decision.inUse)
        if (!reported.has(name)) {
          reported.add(name);
          log.info('Not collected, since it is in use', { name, because: reason });
        }
      for (const deletion of decision.deletions) {
        const outcome = await act(options, deletion, signal, log);
        if (outcome !== 'deleted') {
          failedNames.add(deletion.name);
          reported.add(deletion.name);
        }
        if (outcome === 'deleted') options.onCollected?.(deletion.reason);
        if (signal.aborted) return;
        // Blocks were freed, as they are not by the first half of a pair: from here on the disk itself tells whether that is enough.
        const freed = deletion.kind === 'virtual machine' || deletion.reason === 'stale image';
        if (outcome === 'deleted' && freed) outOfSpace = false;
      }
      if (!decision.pressure || decision.deletions.length === 0) return;
    }
  };

  /** One at a time: two would judge by each other's old lists. */
  const enqueue = (lackOfSpace: boolean, signal: AbortSignal): Promise<void> => {
    queue = queue.then(() =>
      pass(lackOfSpace, signal).catch((error: unknown) => log.error('A round of collection failed', { error })),
    );
    return queue;
  };

  return {
    collect: () => enqueue(false, end.signal),
    freeSpace: () => enqueue(true, end.signal),
    markUsed: (golden) => {
      lastUsed = new Map([...lastUsed, [golden, clock.now()]]);
    },
    run: async (signal) => {
      const stop = (): void => end.abort();
      signal.addEventListener('abort', stop, { once: true });
      while (!signal.aborted) {
        await enqueue(false, signal);
        await sleep(clock, intervalMs, signal);
      }
      stop();
    },
  };
};

export interface AgentCollectorOptions extends Omit<CollectorOptions, 'pods' | 'ownership' | 'openFiles'> {
  readonly client: Pick<Client, 'list'>;
  readonly nodeName: string;
  readonly journal: Pick<Journal, 'list'>;
  readonly records: Pick<ImageRecords, 'isOwned' | 'forget'>;
  readonly tartHome: string;
  /** By lsof unless told. */
  readonly openFiles?: OpenFiles | undefined;
}

/** The collector of an agent: Pods from its Node, ownership from its journal, its records and its marks, open files from lsof. */
export const createAgentCollector = (options: AgentCollectorOptions): Collector => {
  const { client, nodeName, journal, records, tartHome, openFiles = createOpenFiles({ tartHome }), ...deps } = options;
  return createCollector({
    ...deps,
    pods: listPodsOnNode(client, nodeName, journal),
    ownership: createOwnership({
      images: records,
      isInJournal: createJournalLookup(journal),
      hasMarker: createMarkerLookup(tartHome),
    }),
    openFiles,
  });
};
