import type { Logger } from '@tartan/kube';
import { sleep } from '@tartan/kube/clock';
import { act } from './act.ts';
import { decide, type GarbageReason } from './decide.ts';
import { type GcDeps, observe } from './observe.ts';

export interface CollectorOptions extends GcDeps {
  readonly log: Logger;
  /** Called after each deletion. */
  readonly onCollected?: ((reason: GarbageReason) => void) | undefined;
}

const intervalMs = 5 * 60_000;

/** Deletes what this agent made and nobody needs. With --disable-vm-gc there is none at all (B3). */
export const createCollector = (options: CollectorOptions) => {
  const { clock, log } = options;
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
    /** One round now, after the one that is under way. Never rejects. */
    collect: () => enqueue(false, end.signal),
    /** Something has failed for lack of space: as much as it takes to be above the mark, and at least one thing. Never rejects. */
    freeSpace: () => enqueue(true, end.signal),
    /** A golden base was cloned from: its time starts anew. */
    markUsed: (golden: string) => {
      lastUsed = new Map([...lastUsed, [golden, clock.now()]]);
    },
    /** A round at once, and then every five minutes, until `signal` fires. */
    run: async (signal: AbortSignal) => {
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

export type Collector = ReturnType<typeof createCollector>;
