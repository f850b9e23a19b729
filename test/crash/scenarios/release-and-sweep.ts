import { annotations, finalizers, machine } from '@tartan/api';
import { isFree, isFullyDeleted, keepsItsMac, noTokenIsLost } from '../expectations.ts';
import { namespace } from '../harness.ts';
import { minutes, type Scenario } from '../run-scenario.ts';
import { idOf, createHealthyMachines, one } from './setup.ts';

export const release: Scenario = {
  key: 'release',
  name: 'the Mac of a deleted machine is wiped and free',
  prepare: async (harness) => {
    await createHealthyMachines(harness, 'mac-1');
    await harness.admin.delete(machine.resource, { namespace, name: 'mac-1' });
  },
  manager: one,
  missing: (harness) => [
    ...isFullyDeleted(harness, 'mac-1'),
    ...isFree(harness, idOf(harness, 1)),
    ...noTokenIsLost(harness),
  ],
  withinMs: minutes(40),
};

export const sweep: Scenario = {
  key: 'sweep',
  name: 'the sweep finds, wipes and frees a Mac whose machine was deleted by force',
  prepare: async (harness) => {
    await createHealthyMachines(harness, 'mac-1');
    const at = { namespace, name: 'mac-1' };
    await harness.admin.delete(machine.resource, at);
    const { metadata } = await harness.admin.get(machine.resource, at);
    const left = metadata.finalizers?.filter((each) => each !== finalizers.machine) ?? [];
    await harness.admin.patch(machine.resource, at, { type: 'merge', body: { metadata: { finalizers: left } } });
  },
  manager: { ...one, flags: ['--orphan-reclaim-claim-name-prefix=mac-', '--orphan-reclaim-interval=1m'] },
  missing: (harness) => isFree(harness, idOf(harness, 1)),
  withinMs: minutes(40),
};

export const paused: Scenario = {
  key: 'paused',
  name: 'paused machines keep their Macs, also a deleted one',
  prepare: async (harness) => {
    await createHealthyMachines(harness, 'mac-1', 'mac-2');
    const patch = (name: string, metadata: object) =>
      harness.admin.patch(machine.resource, { namespace, name }, { type: 'merge', body: { metadata } });
    for (const name of ['mac-1', 'mac-2']) await patch(name, { annotations: { [annotations.paused]: '' } });
    await patch('mac-2', { finalizers: null });
    await harness.admin.delete(machine.resource, { namespace, name: 'mac-1' });
  },
  manager: one,
  missing: (harness) => ['mac-1', 'mac-2'].flatMap((name) => keepsItsMac(harness, name)),
  withinMs: minutes(10),
};
