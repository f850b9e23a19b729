import { annotations, finalizers, machine } from '@tartan/api';
import { hasLeftNothing, isFree, keepsItsMac, noTokenIsLost } from '../expectations.ts';
import { minutes, type Scenario } from '../scenario.ts';
import { namespace } from '../world.ts';
import { idOf, livingMachines, one } from './beginnings.ts';

export const release: Scenario = {
  key: 'release',
  name: 'a machine is deleted, and its Mac is wiped and free',
  prepare: async (world) => {
    await livingMachines(world, 'mac-1');
    await world.admin.delete(machine.resource, { namespace, name: 'mac-1' });
  },
  manager: one,
  missing: (world) => [...hasLeftNothing(world, 'mac-1'), ...isFree(world, idOf(world, 1)), ...noTokenIsLost(world)],
  withinMs: minutes(40),
};

export const sweep: Scenario = {
  key: 'sweep',
  name: 'a Mac whose machine was removed by force is found, wiped and free',
  prepare: async (world) => {
    await livingMachines(world, 'mac-1');
    const at = { namespace, name: 'mac-1' };
    await world.admin.delete(machine.resource, at);
    const { metadata } = await world.admin.get(machine.resource, at);
    const left = metadata.finalizers?.filter((each) => each !== finalizers.machine) ?? [];
    await world.admin.patch(machine.resource, at, { type: 'merge', body: { metadata: { finalizers: left } } });
  },
  manager: { ...one, flags: ['--orphan-reclaim-claim-name-prefix=mac-', '--orphan-reclaim-interval=1m'] },
  missing: (world) => isFree(world, idOf(world, 1)),
  withinMs: minutes(40),
};

export const paused: Scenario = {
  key: 'paused',
  name: 'machines are paused, and one of them is deleted: each keeps its Mac',
  prepare: async (world) => {
    await livingMachines(world, 'mac-1', 'mac-2');
    const patch = (name: string, metadata: object) =>
      world.admin.patch(machine.resource, { namespace, name }, { type: 'merge', body: { metadata } });
    for (const name of ['mac-1', 'mac-2']) await patch(name, { annotations: { [annotations.paused]: '' } });
    await patch('mac-2', { finalizers: null });
    await world.admin.delete(machine.resource, { namespace, name: 'mac-1' });
  },
  manager: one,
  missing: (world) => ['mac-1', 'mac-2'].flatMap((name) => keepsItsMac(world, name)),
  withinMs: minutes(10),
};
