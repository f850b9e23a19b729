import type { Client, KubeObject, Live, Resource } from '@tartan/kube';
import { fleetNamespace as namespace } from './control-plane.ts';
import { untilNextTry } from './passing.ts';

/** Waits, by a watch, until it holds for the objects of a kind. False: the signal fired before. */
export const until = async <T extends KubeObject>(
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
      await untilNextTry(error, signal);
    }
  }
  return false;
};
