import type { Clock, Random } from '../clock/clock.ts';
import type { Logger } from '../logs/logger.ts';
import type { KubeObject, Live } from '../objects/object.ts';
import type { Resource } from '../objects/resource.ts';
import { createAudience } from './audience.ts';
import { type Backoff, defaultBackoff } from './backoff.ts';
import { createIndexedStore, type IndexFunction } from './indexed-store.ts';
import { createReplica } from './replica.ts';
import { reportMoves, type WatchMetrics } from './report-moves.ts';
import type { CacheChange, WatchCache } from './watch-cache.ts';
import { followServer, type ListAndWatch, type Selection } from './watch-loop.ts';
import { beginning, type WatchState } from './watch-state.ts';

export interface WatchCacheOptions<T extends KubeObject> extends Selection {
  client: ListAndWatch<NoInfer<T>>;
  resource: Resource<T>;
  indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /**
   * Drops what nobody will read before it takes memory (see `withoutManagedFields`). Gets an object that nobody else has seen: it may
   * change it in place. Name, namespace, uid and version must stay. One that throws leaves the object as it is.
   */
  transform?: (object: Live<T>) => Live<T>;
  /**
   * Which objects are held, where no selector of the server can tell; sees an object before `transform`. One that it does not want any
   * more is told as removed, and one that it begins to want as added. One that throws holds the object.
   */
  keep?: (object: Live<T>) => boolean;
  clock: Clock;
  random: Random;
  log: Logger;
  metrics?: WatchMetrics;
  backoff?: Partial<Backoff>;
  /** A watch that gives neither event nor bookmark for this long is taken for dead. Bookmarks come about once a minute. */
  inactivityMs?: number;
  /** The server is asked to end each connection after this time, or up to twice of it. */
  watchTimeoutSeconds?: number;
}

/** Three bookmarks and some more must have gone missing. */
const defaultInactivityMs = 4 * 60_000;
const defaultWatchTimeoutSeconds = 290;

/** A `transform`: managed fields are often the larger part of an object, and only the server needs them. */
export const withoutManagedFields = <T extends KubeObject>(object: Live<T>): Live<T> => {
  Reflect.deleteProperty(object.metadata, 'managedFields');
  return object;
};

const containing =
  <T extends KubeObject>({ keep, transform }: Pick<WatchCacheOptions<T>, 'keep' | 'transform'>, log: Logger) =>
  (object: Live<T>): Live<T> | undefined => {
    try {
      if (keep && !keep(object)) return undefined;
      return transform ? transform(object) : object;
    } catch (error) {
      const { namespace, name } = object.metadata;
      log.error('The filter or transform of a cache threw; the object is kept as it came', { namespace, name, error });
      return object;
    }
  };

/**
 * Flow: list (page by page: of each only what is held stays in memory), watch from there, go on from the last version after every end of a connection; list anew when the server no
 * longer knows that version. The states are in `watch-state.ts`.
 * Guarantees: holds and tells every state that a watch gives, each once, in order, across reconnects; after a new list the difference
 * is told, states in between are skipped. No error ends it, and what listeners, index functions, the filter or the transform throw does not
 * disturb it. What it holds stays readable while the server is away.
 * Caveats: it is behind the server by nature. Objects that one transaction deletes together (expired Events) share a version; when a
 * connection breaks between two of them the second stays until the next list.
 */
export const createWatchCache = <T extends KubeObject>(options: WatchCacheOptions<T>): WatchCache<T> => {
  const { client, resource, clock, random, indexes = {}, metrics = {} } = options;
  const { namespace, labelSelector, fieldSelector } = options;
  const log = options.log.with({
    resource: resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`,
    ...(namespace === undefined ? {} : { namespace }),
  });
  const store = createIndexedStore(indexes, log);
  const audience = createAudience<CacheChange<T>>(log);
  const transform = containing(options, log);
  const replica = createReplica({ store, audience, transform });
  const report = reportMoves({ log, metrics, size: () => store.size });
  const synced = Promise.withResolvers<void>();
  let hasSynced = false;
  let running = false;
  let state: WatchState = beginning;

  const follow = async (signal: AbortSignal): Promise<void> => {
    await followServer(
      {
        client,
        resource,
        selection: {
          ...(namespace === undefined ? {} : { namespace }),
          ...(labelSelector === undefined ? {} : { labelSelector }),
          ...(fieldSelector === undefined ? {} : { fieldSelector }),
        },
        replica,
        transform,
        clock,
        random,
        backoff: { ...defaultBackoff, ...options.backoff },
        inactivityMs: options.inactivityMs ?? defaultInactivityMs,
        watchTimeoutSeconds: options.watchTimeoutSeconds ?? defaultWatchTimeoutSeconds,
        onMove: (to, occurrence) => {
          state = to;
          report(to, occurrence);
          if (occurrence.type !== 'listed') return;
          hasSynced = true;
          synced.resolve();
        },
      },
      signal,
    );
    running = false;
  };

  return {
    synced: synced.promise,
    get hasSynced() {
      return hasSynced;
    },
    get lastError() {
      return state.error;
    },
    get: (key) => store.get(key),
    list: () => store.list(),
    byIndex: (index, value) => store.byIndex(index, value),
    subscribe: (listener) =>
      audience.join(
        listener,
        store.list().map((object) => ({ type: 'added', object })),
      ),
    run: (signal) => {
      if (running) throw new Error('This cache is running already. Make another one, or wait until its run has ended.');
      running = true;
      return follow(signal);
    },
  };
};
