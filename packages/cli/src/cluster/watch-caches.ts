import { createInformer, type Informer, type InformerOptions, type KubeObject, type Logger } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Connection } from './connection.ts';

const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => silentLogger,
};

/** Changes come in bursts: a Mac that joins writes its machine, its host and its Node within a moment. */
const burstMs = 250;

/** One that says nothing of its troubles but in `lastError`. */
export const silentWatchCache = <T extends KubeObject>(
  { client, clock }: Pick<Connection, 'client' | 'clock'>,
  which: Pick<InformerOptions<T>, 'resource' | 'namespace' | 'labelSelector'>,
): Informer<T> => createInformer({ client, clock, random: Math.random, log: silentLogger, ...which });

/** What all caches have in common, whatever is in them. */
type WatchedCache = Pick<Informer<KubeObject>, 'hasSynced' | 'lastError' | 'synced' | 'run'> & {
  subscribe(hear: () => void): () => void;
};

/**
 * Calls `tell` once all of them have been read, after each change and, if told, every so often, until the signal fires. A server that
 * goes away is waited for; `tell` hears of it.
 */
export const watchCaches = async (
  clock: Clock,
  caches: readonly WatchedCache[],
  { tell: emit, everyMs }: { readonly tell: (behind: Error | undefined) => void; readonly everyMs: number | undefined },
  signal: AbortSignal,
): Promise<void> => {
  let cancelTimer: (() => void) | undefined;
  let isScheduled = false;
  const flush = (): void => {
    cancelTimer?.();
    cancelTimer = everyMs === undefined ? undefined : clock.after(everyMs, flush);
    isScheduled = false;
    if (signal.aborted || caches.some(({ hasSynced }) => !hasSynced)) return;
    emit(caches.find(({ lastError }) => lastError !== undefined)?.lastError);
  };
  const changed = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    cancelTimer?.();
    cancelTimer = clock.after(burstMs, flush);
  };
  const ends = caches.map((cache) => cache.subscribe(changed));
  // An empty cluster has no change that would show it.
  for (const { synced } of caches) void synced.then(changed);
  await Promise.all(caches.map((cache) => cache.run(signal)));
  cancelTimer?.();
  for (const end of ends) end();
};
