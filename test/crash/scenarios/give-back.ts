import { machine } from '@tartan/api';
import { isFree, lives, noTokenIsLost } from '../expectations.ts';
import { minutes, type Scenario } from '../scenario.ts';
import { untilDone } from '../until-done.ts';
import { namespace, type World } from '../world.ts';
import { addMachine, idOf, knownPool, livingMachines, one } from './beginnings.ts';

export const failedBootstrap: Scenario = {
  key: 'exhausted',
  mostlyKnown: true,
  name: 'a Mac that cannot be made ready is restarted, given back, and another one is claimed',
  prepare: async (world) => {
    await knownPool(world, 2);
    await addMachine(world, 'mac-1');
    world.macs.get(idOf(world, 1)).restartsNeeded = 9;
  },
  manager: { ...one, flags: ['--bootstrap-reboot-after=1', '--bootstrap-max-attempts=2'] },
  missing: (world) => [
    ...lives(world, 'mac-1'),
    ...isFree(world, idOf(world, 1), 'quarantined'),
    ...(world.facts.machine('mac-1')?.status?.serverID === idOf(world, 2) ? [] : ['mac-1 has the broken Mac']),
    ...noTokenIsLost(world),
  ],
  withinMs: minutes(60),
};

export const notWiped: Scenario = {
  key: 'unwiped',
  mostlyKnown: true,
  name: 'a Mac that came back from its wipe as it was is given back at once, and another one is claimed',
  prepare: async (world) => {
    await livingMachines(world, 'mac-1');
    const id = idOf(world, 1);
    world.scaleway.faults.reinstallDoesNotWipe.add(id);
    await world.admin.delete(machine.resource, { namespace, name: 'mac-1' });
    await untilDone(world, one, () => (stateOf(world, id) === 'pool' ? [] : ['it is not in the pool']), minutes(30));
    await knownPool(world, 1);
    await addMachine(world, 'mac-2');
  },
  manager: one,
  missing: (world) => [
    ...lives(world, 'mac-2'),
    ...isFree(world, idOf(world, 1), 'quarantined'),
    ...noTokenIsLost(world),
  ],
  withinMs: minutes(60),
};

const stateOf = ({ facts }: World, id: string): string | undefined => facts.host(id)?.status?.state;
