import { annotations, machine } from '@tartan/api';
import { fleetIsUpToDate, hasKey, isFree, lives, noTokenIsLost } from '../expectations.ts';
import { minutes, type Scenario } from '../scenario.ts';
import { untilDone } from '../until-done.ts';
import { namespace } from '../world.ts';
import { addMachine, fleetName, idOf, one, orderMacs } from './beginnings.ts';

export const found: Scenario = {
  key: 'found',
  name: 'Macs that nobody has seen before are found, and a fleet gets its key',
  prepare: async (world) => {
    await orderMacs(world, 2);
    await addMachine(world, 'mac-1', { [annotations.paused]: '' });
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
    for (const name of ['mac-1', 'mac-2']) await addMachine(world, name, { [annotations.paused]: '' });
    const missing = () => [...world.macs.all.flatMap(({ id }) => isFree(world, id)), ...hasKey(world, fleetName)];
    await untilDone(world, one, missing, minutes(10));
    for (const name of ['mac-1', 'mac-2']) {
      const body = { metadata: { annotations: { [annotations.paused]: null } } };
      await world.admin.patch(machine.resource, { namespace, name }, { type: 'merge', body });
    }
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
