import { fleetIsUpToDate, hasKey, isFree, lives, noTokenIsLost } from '../expectations.ts';
import { minutes, type Scenario } from '../scenario.ts';
import { untilDone } from '../until-done.ts';
import { addFleet, addMachine, fleetName, idOf, one, orderMacs } from './beginnings.ts';

export const found: Scenario = {
  key: 'found',
  name: 'Macs that nobody has seen before are found, and a fleet gets its key',
  prepare: async (world) => {
    await orderMacs(world, 2);
    await addFleet(world);
  },
  manager: one,
  missing: (world) => [
    ...isFree(world, idOf(world, 1)),
    ...isFree(world, idOf(world, 2)),
    ...hasKey(world, fleetName),
    ...fleetIsUpToDate(world, fleetName),
  ],
  withinMs: minutes(20),
};

export const claimAndBootstrap: Scenario = {
  key: 'claim',
  name: 'two machines claim two of three Macs and make them ready',
  prepare: async (world) => {
    await orderMacs(world, 3);
    await addFleet(world);
    const missing = () => [...world.macs.all.flatMap(({ id }) => isFree(world, id)), ...hasKey(world, fleetName)];
    await untilDone(world, one, missing, minutes(10));
    for (const name of ['mac-1', 'mac-2']) await addMachine(world, name);
  },
  manager: one,
  missing: (world) => [
    ...lives(world, 'mac-1'),
    ...lives(world, 'mac-2'),
    ...fleetIsUpToDate(world, fleetName),
    ...noTokenIsLost(world),
  ],
  withinMs: minutes(30),
};
