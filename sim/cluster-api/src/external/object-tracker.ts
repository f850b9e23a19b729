import {
  type Client,
  createInformer,
  type Informer,
  isKubeError,
  keyOf,
  type Live,
  type Logger,
  type Source,
} from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';
import type { Reference } from '../kinds.ts';
import { type Contract, createFindKind, type ExternalKind, type ExternalObject, type FindKind } from './contract.ts';

/** The target of a reference. */
export interface External {
  readonly ref: Reference;
  /** Undefined while the kind is not installed. */
  readonly kind: ExternalKind | undefined;
  readonly contract: Contract;
  readonly object: Live<ExternalObject> | undefined;
}

export type MapToKeys = (object: Live<ExternalObject>) => Iterable<string>;

/** Objects of providers, of any referenced kind. */
export interface ObjectTracker {
  readonly findKind: FindKind;
  /** Reads it from the server. From then on, changes of objects of that kind reach every source. */
  read(namespace: string, ref: Reference, options: { signal: AbortSignal }): Promise<External>;
  /** The informer of a kind. It lags behind the server: only for values that are compared with the server when written. */
  cached(kind: ExternalKind, options: { signal: AbortSignal }): Promise<Pick<Informer<ExternalObject>, 'get' | 'list'>>;
  /** Enqueues keys when an object of any kind that was read has changed. */
  source(wakeUp: MapToKeys): Source;
  /** Watches kinds until `signal` fires. */
  run(signal: AbortSignal): Promise<void>;
}

interface ExternalsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/**
 * Guarantees: a kind is watched before its first object is read, so no later change is missed.
 * Caveats: an uninstalled kind is still watched, with back-off, until the end.
 */
export const createObjectTracker = (options: ExternalsOptions): ObjectTracker => {
  const { client } = options;
  const findKind = createFindKind(client);
  const caches = new Map<string, Informer<ExternalObject>>();
  const listeners = new Set<(object: Live<ExternalObject>) => void>();
  const runs: Promise<void>[] = [];
  const stopping = new AbortController();

  const cacheOf = ({ resource }: ExternalKind): Informer<ExternalObject> => {
    const key = `${resource.plural}.${resource.group}/${resource.version}`;
    const known = caches.get(key);
    if (known) return known;
    const cache = createInformer({ ...options, resource });
    caches.set(key, cache);
    cache.subscribe((change) => {
      for (const listen of listeners) listen(change.type === 'removed' ? change.previous : change.object);
    });
    runs.push(cache.run(stopping.signal));
    return cache;
  };
  const follow = async (kind: ExternalKind, signal: AbortSignal): Promise<void> => {
    const cache = cacheOf(kind);
    if (cache.hasSynced || signal.aborted) return;
    await Promise.race([cache.synced, untilAborted(signal)]);
  };

  return {
    findKind,
    read: async (namespace, ref, call) => {
      const kind = await findKind(ref, call);
      if (!kind) return { ref, kind, contract: 'v1beta2', object: undefined };
      await follow(kind, call.signal);
      const { contract } = kind;
      try {
        return { ref, kind, contract, object: await client.get(kind.resource, { namespace, name: ref.name }, call) };
      } catch (error) {
        if (isKubeError(error, 'notFound')) return { ref, kind, contract, object: undefined };
        throw error;
      }
    },
    cached: async (kind, call) => {
      await follow(kind, call.signal);
      return cacheOf(kind);
    },
    source: (wakeUp) => (enqueue, report) => {
      const listen = (object: Live<ExternalObject>): void => {
        try {
          for (const key of wakeUp(object)) enqueue(key);
        } catch (error) {
          report(error);
        }
      };
      listeners.add(listen);
      return () => listeners.delete(listen);
    },
    run: async (signal) => {
      await untilAborted(signal);
      stopping.abort();
      await Promise.all(runs);
    },
  };
};

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** The owners of core's `kind`. */
export const ownersOfKind =
  (kind: string): MapToKeys =>
  ({ metadata: { namespace, ownerReferences = [] } }) =>
    ownerReferences
      .filter((owner) => owner.kind === kind && owner.apiVersion.startsWith('cluster.x-k8s.io/'))
      .map(({ name }) => keyOf({ name, ...(namespace !== undefined && { namespace }) }));

/** Whether a reference in that namespace names this object. */
export const refersTo = (
  ref: Reference | undefined,
  { apiVersion = '', kind, metadata }: Live<ExternalObject>,
): boolean => ref?.name === metadata.name && ref.kind === kind && apiVersion.startsWith(`${ref.apiGroup}/`);
