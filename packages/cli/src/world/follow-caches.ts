import { createWatchCache, type KubeObject, type Logger, type WatchCache, type WatchCacheOptions } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Connection } from '../cluster/cluster.ts';

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => silent };

/** Changes come in bursts: a Mac that joins writes its machine, its host and its Node within a moment. */
const burstMs = 250;

/** One that says nothing of its troubles but in `lastError`. */
export const quietCache = <T extends KubeObject>(
  { client, clock }: Pick<Connection, 'client' | 'clock'>,
  which: Pick<WatchCacheOptions<T>, 'resource' | 'namespace' | 'labelSelector'>,
): WatchCache<T> => createWatchCache({ client, clock, random: Math.random, log: silent, ...which });

/** What all caches have in common, whatever is in them. */
type Followed = Pick<WatchCache<KubeObject>, 'hasSynced' | 'lastError' | 'synced' | 'run'> & {
  subscribe(hear: () => void): () => void;
};

/**
 * Calls `tell` once all of them have been read, after each change and, if told, every so often, until the signal fires. A server that
 * goes away is waited for; `tell` hears of it.
 */
export const followCaches = async (
  clock: Clock,
  followed: readonly Followed[],
  { tell, everyMs }: { readonly tell: (behind: Error | undefined) => void; readonly everyMs: number | undefined },
  signal: AbortSignal,
): Promise<void> => {
  let due: (() => void) | undefined;
  let soon = false;
  const look = (): void => {
    due?.();
    due = everyMs === undefined ? undefined : clock.after(everyMs, look);
    soon = false;
    if (signal.aborted || followed.some(({ hasSynced }) => !hasSynced)) return;
    tell(followed.find(({ lastError }) => lastError !== undefined)?.lastError);
  };
  const changed = (): void => {
    if (soon) return;
    soon = true;
    due?.();
    due = clock.after(burstMs, look);
  };
  const ends = followed.map((cache) => cache.subscribe(changed));
  // An empty cluster has no change that would show it.
  for (const { synced } of followed) void synced.then(changed);
  await Promise.all(followed.map((cache) => cache.run(signal)));
  due?.();
  for (const end of ends) end();
};
