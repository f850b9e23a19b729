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

/** Deletes VMs and images that this agent created and no Pod needs. Not created with --disable-vm-gc (B3). */
export const createCollector = (options: CollectorOptions) => {
  const { clock, log } = options;
  const end = new AbortController();
  let lastUsed: ReadonlyMap<string, number> = new Map();
  let queue = Promise.resolve();

  const pass = async (lackOfSpace: boolean, signal: AbortSignal): Promise<void> => {
    /** Failed deletions are not retried in this run, so that it ends. */
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
      // Golden bases used during the observation.
      const since = [...lastUsed].filter(([name, at]) => before.get(name) !== at);
      lastUsed = new Map([...decision.lastUsed, ...since]);
      for (const { name, reason } of decision.inUse)
        if (!reported.has(name)) {
          reported.add(name);
          log.info('Not collected, since it is in use', { name, reason: reason });
        }
      for (const deletion of decision.deletions) {
        const outcome = await act(options, deletion, signal, log);
        if (outcome !== 'deleted') {
          failedNames.add(deletion.name);
          reported.add(deletion.name);
        }
        if (outcome === 'deleted') options.onCollected?.(deletion.reason);
        if (signal.aborted) return;
        // This freed blocks, which the first half of an image and base pair does not: from now on the measured disk decides.
        const freed = deletion.kind === 'virtual machine' || deletion.reason === 'stale image';
        if (outcome === 'deleted' && freed) outOfSpace = false;
      }
      if (!decision.pressure || decision.deletions.length === 0) return;
    }
  };

  /** One run at a time: concurrent runs would use each other's stale lists. */
  const enqueue = (lackOfSpace: boolean, signal: AbortSignal): Promise<void> => {
    queue = queue.then(() =>
      pass(lackOfSpace, signal).catch((error: unknown) => log.error('A round of collection failed', { error })),
    );
    return queue;
  };

  return {
    /** Runs once, after the current run. Never rejects. */
    collect: () => enqueue(false, end.signal),
    /** Call after a failure for lack of space: frees space until above the threshold, at least one item. Never rejects. */
    freeSpace: () => enqueue(true, end.signal),
    /** A golden base was cloned: restarts its retention time. */
    markUsed: (golden: string) => {
      lastUsed = new Map([...lastUsed, [golden, clock.now()]]);
    },
    /** Runs at once, then every five minutes, until `signal` fires. */
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
