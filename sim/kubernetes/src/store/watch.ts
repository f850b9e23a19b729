import { expired, type Status } from '../errors/api-error.ts';
import type { KubeObject } from '../object.ts';
import { apiVersionOf, type Resource } from '../resource.ts';
import type { Change } from '../storage/storage.ts';
import type { ListOptions } from './list-options.ts';
import { type Core, prefixOf } from './store.ts';

export type WatchEvent =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: KubeObject }
  | { type: 'BOOKMARK'; object: KubeObject }
  | { type: 'ERROR'; object: Status };

/** A client that does not read is cut off after this many buffered events. */
const maxQueuedEvents = 1_000;
const bookmarkEvery = 60_000;
/** Without `timeoutSeconds` a watch ends after 30 to 60 minutes, at random, so that clients do not reconnect all at once. */
const shortestWatchSeconds = 1_800;

/** The event of a change for a watch with a selector: an object may start or stop to match without being created or deleted. */
const eventOf = (
  change: Change,
  resource: Resource,
  matches: (object: KubeObject) => boolean,
): WatchEvent | undefined => {
  const current = change.object && resource.fromStored(change.object);
  const previous = change.previous && resource.fromStored(change.previous);
  const inView = current !== undefined && matches(current);
  const wasInView = previous !== undefined && matches(previous);
  if (inView) return { type: wasInView ? 'MODIFIED' : 'ADDED', object: current };
  if (!wasInView) return undefined;
  const resourceVersion = String(change.revision);
  return { type: 'DELETED', object: { ...previous, metadata: { ...previous.metadata, resourceVersion } } };
};

const bookmark = (resource: Resource, revision: number, annotations?: Record<string, string>): WatchEvent => ({
  type: 'BOOKMARK',
  object: {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    // A bookmark contains only a resource version.
    metadata: { resourceVersion: String(revision), ...(annotations ? { annotations } : {}) } as KubeObject['metadata'],
  },
});

/** The current state, or the changes since a resource version. */
const initialEvents = (
  core: Core,
  resource: Resource,
  namespace: string,
  options: ListOptions,
): WatchEvent[] | Status => {
  const { storage } = core;
  const prefix = prefixOf(resource, namespace);
  const since = Number(options.resourceVersion || '0');
  if (since === 0 || options.sendInitialEvents) {
    const state = storage
      .list(prefix)
      .map((object) => resource.fromStored(object))
      .filter((object) => options.matches(object))
      .map((object): WatchEvent => ({ type: 'ADDED', object }));
    if (!options.sendInitialEvents) return options.sendInitialEvents === false ? [] : state;
    return options.allowWatchBookmarks
      ? [...state, bookmark(resource, storage.revision, { 'k8s.io/initial-events-end': 'true' })]
      : state;
  }
  if (since < storage.compacted) return expired(`too old resource version: ${since} (${storage.compacted})`).status;
  return storage.changes(prefix, since).flatMap((change) => eventOf(change, resource, options.matches) ?? []);
};

/**
 * The events of one watch, in batches. It subscribes at the call, not at the first read. Ends at its timeout, after an error, when the
 * client reads too slowly, and with `signal`. A caller that does not read to the end must abort.
 */
export const watchObjects = (
  core: Core,
  resource: Resource,
  namespace: string,
  options: ListOptions,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent[]> => {
  const prefix = prefixOf(resource, namespace);
  const first = initialEvents(core, resource, namespace, options);
  let queue: WatchEvent[] = Array.isArray(first) ? first : [{ type: 'ERROR', object: first }];
  const room = queue.length + maxQueuedEvents;
  // A client may leave before its watch begins, and the signal does not fire again.
  let ended = !Array.isArray(first) || signal.aborted;
  let wake = (): void => {};
  const stops: (() => void)[] = [];

  const end = (): void => {
    ended = true;
    for (const stop of stops.splice(0)) stop();
    wake();
  };
  const push = (event: WatchEvent): void => {
    if (queue.length >= room) end();
    else queue.push(event);
    wake();
  };
  const scheduleBookmark = (): void => {
    const stop = core.clock.after(bookmarkEvery, () => {
      stops.splice(stops.indexOf(stop), 1);
      push(bookmark(resource, core.storage.revision));
      if (!ended) scheduleBookmark();
    });
    stops.push(stop);
  };

  if (!ended) {
    const seconds = options.timeoutSeconds ?? Math.floor(shortestWatchSeconds * (1 + core.random()));
    const expire = core.clock.after(seconds * 1000, () => {
      if (options.allowWatchBookmarks) push(bookmark(resource, core.storage.revision));
      end();
    });
    const unsubscribe = core.storage.subscribe((change) => {
      if (!change.key.startsWith(prefix)) return;
      const event = eventOf(change, resource, options.matches);
      if (event) push(event);
    });
    signal.addEventListener('abort', end, { once: true });
    stops.push(expire, unsubscribe, () => signal.removeEventListener('abort', end));
    if (options.allowWatchBookmarks) scheduleBookmark();
  }

  const batches = async function* (): AsyncGenerator<WatchEvent[]> {
    try {
      while (!signal.aborted) {
        if (queue.length > 0) {
          const batch = queue;
          queue = [];
          yield batch;
        } else if (ended) {
          return;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      end();
    }
  };
  return batches();
};
