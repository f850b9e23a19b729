import { machine, macHost, type ScalewayAppleSiliconMachine } from '@tartan/api';
import type { Client } from '@tartan/kube';
import { fleetNamespace as namespace } from './control-plane.ts';
import { until } from './until.ts';

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
