import type { Selection } from '../client/client.ts';
import type { Clock, Random } from '../clock/clock.ts';
import { isKubeError, type KubeErrorReason } from '../errors/kube-error.ts';
import type { Logger } from '../logs/logger.ts';
import type { KubeObject, Live, Resource } from '../objects/object.ts';
import { createIndexedStore, type IndexFunction } from './indexed-store.ts';
import type { Informer, InformerEvent } from './informer.ts';
import {
  type BackingOff,
  initialState,
  isVersionUnusable,
  type ReflectorEvent,
  type ReflectorState,
} from './reflector-state.ts';
import { type ListerWatcher, runReflector } from './reflector.ts';
import { createListeners, createStoreUpdater } from './store-updater.ts';
import { createStringPool } from './string-pool.ts';

export interface InformerOptions<T extends KubeObject> extends Selection {
  client: ListerWatcher<NoInfer<T>>;
  resource: Resource<T>;
  indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /**
   * Drops unneeded fields to save memory (see `withoutManagedFields`). May change the object in place. Name, namespace, uid and
   * version must stay. If it throws, the object is kept unchanged.
   */
  transform?: (object: Live<T>) => Live<T>;
  /**
   * Client-side filter, for what no selector can express. Called before `transform`. An object that stops matching is reported as
   * removed, one that starts matching as added. If it throws, the object is kept.
   */
  filter?: (object: Live<T>) => boolean;
  /** See `ListOptions`: saves parsing most objects that `filter` would leave out. */
  mustContain?: string;
  clock: Clock;
  random: Random;
  log: Logger;
}

/** A `transform`: managed fields are often the larger part of an object, and only the server needs them. */
export const withoutManagedFields = <T extends KubeObject>(object: Live<T>): Live<T> => {
  // A copy: an object from which a field was deleted needs several times its memory.
  const { managedFields: _, ...metadata } = object.metadata as typeof object.metadata & { managedFields?: unknown };
  object.metadata = metadata;
  return object;
};

const filterAndTransform = <T extends KubeObject>(
  { filter, transform }: Pick<InformerOptions<T>, 'filter' | 'transform'>,
  log: Logger,
): ((object: Live<T>) => Live<T> | undefined) => {
  const shareStrings = createStringPool();
  return (object) => {
    try {
      if (filter && !filter(object)) return undefined;
      const kept = transform ? transform(object) : object;
      shareStrings(kept);
      return kept;
    } catch (error) {
      const { namespace, name } = object.metadata;
      log.error('The filter or transform of a cache threw; the object is kept as it came', { namespace, name, error });
      return object;
    }
  };
};

/**
 * Flow: list (page by page, keeping only what is cached), watch, resume from the last version after every disconnect; list again when that
 * version has expired. The states are in `reflector-state.ts`.
 * Guarantees: caches and reports every state that a watch delivers, once, in order, across reconnects; after a relist it reports the
 * difference, without the states in between. No error ends it, and exceptions of listeners, index functions, the filter or the transform do
 * not disturb it. The cache stays readable while the server is unreachable.
 * Caveats: the cache is eventually consistent. Objects deleted in one transaction (expired Events) share a version; when a connection
 * breaks between two of them the second stays cached until the next list.
 */
export const createInformer = <T extends KubeObject>(options: InformerOptions<T>): Informer<T> => {
  const { client, resource, clock, random, indexes = {} } = options;
  const { namespace, labelSelector, fieldSelector, mustContain } = options;
  const log = options.log.with({
    resource: resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`,
    ...(namespace === undefined ? {} : { namespace }),
  });
  const store = createIndexedStore(indexes, log);
  const listeners = createListeners<InformerEvent<T>>(log);
  const updater = createStoreUpdater({ store, listeners, transform: filterAndTransform(options, log) });
  const report = reportTransitions(log, () => store.size);
  const synced = Promise.withResolvers<void>();
  let hasSynced = false;
  let running = false;
  let state: ReflectorState = initialState;

  const follow = async (signal: AbortSignal): Promise<void> => {
    await runReflector(
      {
        client,
        resource,
        selection: { namespace, labelSelector, fieldSelector, mustContain },
        updater,
        clock,
        random,
        onTransition: (to, event) => {
          state = to;
          report(to, event);
          if (event.type !== 'listed') return;
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
    countByIndex: (index) => store.countByIndex(index),
    subscribe: (listener) =>
      listeners.subscribe(
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

/** Failures that rarely go away by themselves. Retried anyway: a user may be fixing the cause. */
const advice: Partial<Record<KubeErrorReason, string>> = {
  unauthorized: 'check the credentials',
  forbidden: 'grant the verbs list and watch on this resource',
  notFound: 'install the CustomResourceDefinition, or check group, version and plural',
};

const reportFailure = (error: Error, state: BackingOff, log: Logger): void => {
  const reason = isKubeError(error) ? error.reason : 'defect';
  const fields = { reason, error, failures: state.failures, waitMs: Math.round(state.delayMs) };
  if (isVersionUnusable(error) && state.failures === 1)
    return log.info('The server no longer knows our version; listing anew', fields);
  const next = state.version === undefined ? 'list' : 'resume';
  const hint = reason === 'defect' ? undefined : advice[reason];
  log.warn('Listing or watching failed; trying again after a wait', {
    ...fields,
    next,
    ...(hint === undefined ? {} : { advice: hint }),
  });
};

/** Logs the state changes of a reflector. */
const reportTransitions =
  (log: Logger, size: () => number) =>
  (state: ReflectorState, event: ReflectorEvent): void => {
    if (event.type === 'received' || state.kind === 'stopped') return;
    if (event.type === 'listed') log.debug('Listed', { objects: size() });
    if (event.type === 'inactive')
      log.info('Watch inactive, reconnecting', { next: state.kind === 'watching' ? 'resume' : 'list' });
    if (state.kind === 'backingOff' && state.error && (event.type === 'failed' || event.type === 'ended'))
      reportFailure(state.error, state, log);
  };
