import { macFleet, machine } from '@tartan/api';
import { clusterMember } from '../../../packages/provider/src/core/testing/cluster-member.ts';
import { fleetIsUpToDate, isFree, lives } from '../expectations.ts';
import { minutes } from '../scenario.ts';
import { untilDone } from '../until-done.ts';
import { namespace, type World } from '../world.ts';

export const fleetName = 'runners';
export const one = { version: 'one' };
export const two = { version: 'two' };

export const addMachine = async ({ admin }: World, name: string): Promise<void> => {
  const at = { namespace, name };
  const metadata = { ...at, ...(await clusterMember(admin, at)) };
  await admin.create(machine.resource, machine.make({ metadata, spec: { fleetName } }));
};

/** A fleet without machines gets its SSH key, too. */
export const addFleet = async ({ admin }: World): Promise<void> => {
  await admin.create(macFleet.resource, macFleet.make({ metadata: { namespace, name: fleetName } }));
};

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
