import { machine, macHost, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { type Client, isKubeError, type KubeObject, type Live, type Resource } from '@tartan/kube';
import { fleetNamespace as namespace } from './control-plane.ts';

export const fleetName = 'laptop';

/** Asks for that many machines: `mac-1`, `mac-2`, … */
export const createMachines = async (client: Client, count: number): Promise<readonly string[]> => {
  const names = Array.from({ length: count }, (_, index) => `mac-${index + 1}`);
  for (const name of names)
    await client.create(machine.resource, machine.make({ metadata: { namespace, name }, spec: { fleetName } }));
  return names;
};

const isReady = ({ status }: ScalewayAppleSiliconMachine): boolean => status?.ready === true;

/** Waits, by a watch, until the provider has found that many Macs in the pool. False: the signal fired before. */
export const untilFound = (client: Client, count: number, signal: AbortSignal): Promise<boolean> =>
  until(
    client,
    macHost.resource,
    (hosts) => hosts.filter(({ status }) => status?.state === 'pool').length >= count,
    signal,
  );

/** The same, until that many machines are Ready. */
export const untilReady = (client: Client, count: number, signal: AbortSignal): Promise<boolean> =>
  until(client, machine.resource, (machines) => machines.filter(isReady).length >= count, signal);

const until = async <T extends KubeObject>(
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
      if (!signal.aborted && !isKubeError(error, 'expired')) throw error;
    }
  }
  return false;
};
