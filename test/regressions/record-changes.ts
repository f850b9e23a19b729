import { type Client, isKubeError, type KubeObject, type Live, type Resource } from '@tartan/kube';
import { namespace } from './harness.ts';

export interface ChangeRecorder<T> {
  /** Every state of every object, in order, until it is stopped. */
  readonly states: readonly T[];
  stop(): Promise<void>;
}

/** Records all states of the objects of a kind, from the current one on: for states that must never occur in between. */
export const recordChanges = async <T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
): Promise<ChangeRecorder<Live<T>>> => {
  const over = new AbortController();
  const { signal } = over;
  const where = resource.namespaced ? { namespace } : {};
  const { items, resourceVersion } = await client.list(resource, where);
  const states = [...items];
  const watching = async (): Promise<void> => {
    try {
      for await (const event of client.watch(resource, { ...where, resourceVersion, signal }))
        if (event.type !== 'BOOKMARK') states.push(event.object);
    } catch (error) {
      if (!signal.aborted && !isKubeError(error, 'aborted')) throw error;
    }
  };
  const done = watching();
  done.catch(() => {});
  return {
    states,
    stop: async () => {
      over.abort();
      await done;
    },
  };
};
