import { machine } from '@tartan/api';
import { fleetIsUpToDate, isFree, lives } from '../expectations.ts';
import { minutes } from '../scenario.ts';
import { untilDone } from '../until-done.ts';
import { namespace, type World } from '../world.ts';

export const fleetName = 'runners';
export const one = { version: 'one' };
export const two = { version: 'two' };

export const addMachine = (
  { admin }: World,
  name: string,
  annotations: Record<string, string> = {},
): Promise<unknown> =>
  admin.create(machine.resource, machine.make({ metadata: { name, namespace, annotations }, spec: { fleetName } }));

export const orderMacs = async ({ order }: World, count: number): Promise<void> => {
  for (let each = 0; each < count; each += 1) await order();
};

/** So many Macs in the pool, each with its MacHost, and the first of them there for longest. */
export const knownPool = async (world: World, count: number): Promise<void> => {
  for (let each = 0; each < count; each += 1) {
    const { id } = await world.order();
    await untilDone(world, one, () => isFree(world, id), minutes(10));
  }
};

/** Machines that live, made by the first version. */
export const livingMachines = async (world: World, ...names: readonly string[]): Promise<void> => {
  await orderMacs(world, names.length);
  for (const name of names) await addMachine(world, name);
  const missing = () => [...names.flatMap((name) => lives(world, name)), ...fleetIsUpToDate(world, fleetName)];
  await untilDone(world, one, missing, minutes(20));
};

export const idOf = ({ macs }: World, number: number): string => macs.all[number - 1]?.id ?? '';
