import { isKubeError, type KubeObject, type Live, type Resource, type WatchEvent } from '@tartan/kube';
import { sleep, systemClock } from '@tartan/kube/clock';
import type { Harness } from './harness.ts';
import { namespace } from './values.ts';

type Change<T extends KubeObject> = Exclude<WatchEvent<T>, { type: 'BOOKMARK' }>;

export interface ChangeRecorder<T extends KubeObject> {
  /** Starts with the existing objects, as added. */
  readonly changes: readonly Change<T>[];
  /** All states of the object of this name, in order. */
  statesOf(name: string): readonly Live<T>[];
  /** Waits until it has seen all changes before the call. */
  stop(): Promise<void>;
}

/**
 * Records every change of a kind in the namespace of the release, or of a cluster-scoped kind: for states that must never occur in between.
 */
export const recordChanges = async <T extends KubeObject>(
  { client, over }: Pick<Harness, 'client' | 'over'>,
  resource: Resource<T>,
  onChange: (change: Change<T>) => void = () => {},
): Promise<ChangeRecorder<T>> => {
  const stopped = new AbortController();
  const signal = AbortSignal.any([stopped.signal, over]);
  const changes: Change<T>[] = [];
  const where = resource.namespaced ? { namespace } : {};
  const { items, resourceVersion } = await client.list(resource, where);
  let last = resourceVersion;
  const note = (change: Change<T>): void => {
    changes.push(change);
    onChange(change);
  };
  for (const object of items) note({ type: 'ADDED', object });
  const watching = async (): Promise<void> => {
    while (!signal.aborted)
      try {
        for await (const event of client.watch(resource, { ...where, resourceVersion: last, signal })) {
          last = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
          if (event.type !== 'BOOKMARK') note(event);
        }
      } catch (error) {
        // After a reconnect the server sends what was missed.
        if (signal.aborted) return;
        if (!isKubeError(error, 'expired', 'unreachable', 'timeout', 'serverError', 'tooManyRequests')) throw error;
        await sleep(systemClock, 200, signal);
      }
  };
  const done = watching();
  done.catch(() => {});
  return {
    changes,
    statesOf: (name) => changes.map(({ object }) => object).filter(({ metadata }) => metadata.name === name),
    stop: async () => {
      stopped.abort();
      await done;
    },
  };
};
