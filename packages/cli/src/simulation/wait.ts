import { type Client, isKubeError, type KubeObject, type Live, type Resource } from '@tartan/kube';
import { sleep, systemClock as clock } from '@tartan/kube/clock';
import { fleetNamespace as namespace } from './control-plane.ts';

/** Waits, by a watch, until it holds for the objects of a kind. False: the signal fired before. */
export const untilObjects = async <T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  holds: (objects: readonly Live<T>[]) => boolean,
  signal: AbortSignal,
): Promise<boolean> => {
  const where = resource.namespaced ? { namespace } : {};
  while (!signal.aborted) {
    try {
      const { items, resourceVersion } = await client.list(resource, { ...where, signal });
      const known = new Map(items.map((item) => [item.metadata.name, item]));
      if (holds([...known.values()])) return true;
      for await (const event of client.watch(resource, { ...where, resourceVersion, signal })) {
        if (event.type === 'BOOKMARK') continue;
        if (event.type === 'DELETED') known.delete(event.object.metadata.name);
        else known.set(event.object.metadata.name, event.object);
        if (holds([...known.values()])) return true;
      }
    } catch (error) {
      await pauseBeforeRetry(error, signal);
    }
  }
  return false;
};

const retryPauseMs = 200;

/** Waits during an outage of the API server; throws other errors. */
export const pauseBeforeRetry = async (error: unknown, signal: AbortSignal): Promise<void> => {
  if (signal.aborted) return;
  if (!isKubeError(error, 'expired', 'unreachable', 'timeout', 'serverError', 'tooManyRequests')) throw error;
  await sleep(clock, retryPauseMs, signal);
};
