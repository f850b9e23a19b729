import { machine } from '@tartan/api';
import { isFree, isHealthyMachine, noTokenIsLost } from '../expectations.ts';
import { type Harness, namespace } from '../harness.ts';
import { minutes, type Scenario } from '../run-scenario.ts';
import { addMachine, idOf, createPool, createHealthyMachines, one, runManagerUntil } from './setup.ts';

export const failedBootstrap: Scenario = {
  key: 'exhausted',
  mostlyKnown: true,
  name: 'a Mac whose bootstrap fails is rebooted and released, and another one is claimed',
  prepare: async (harness) => {
    await createPool(harness, 2);
    await addMachine(harness, 'mac-1');
    harness.macs.get(idOf(harness, 1)).restartsNeeded = 9;
  },
  manager: { ...one, flags: ['--bootstrap-reboot-after=1', '--bootstrap-max-attempts=2'] },
  missing: (harness) => [
    ...isHealthyMachine(harness, 'mac-1'),
    ...isFree(harness, idOf(harness, 1), 'quarantined'),
    ...(harness.facts.machine('mac-1')?.status?.serverID === idOf(harness, 2) ? [] : ['mac-1 has the broken Mac']),
    ...noTokenIsLost(harness),
  ],
  withinMs: minutes(60),
};

export const notWiped: Scenario = {
  key: 'unwiped',
  mostlyKnown: true,
  name: 'a Mac that Scaleway did not wipe is released at once, and another one is claimed',
  prepare: async (harness) => {
    await createHealthyMachines(harness, 'mac-1');
    const id = idOf(harness, 1);
    harness.scaleway.faults.reinstallDoesNotWipe.add(id);
    await harness.admin.delete(machine.resource, { namespace, name: 'mac-1' });
    await runManagerUntil(
      harness,
      one,
      () => (stateOf(harness, id) === 'pool' ? [] : ['it is not in the pool']),
      minutes(30),
    );
    await createPool(harness, 1);
    await addMachine(harness, 'mac-2');
  },
  manager: one,
  missing: (harness) => [
    ...isHealthyMachine(harness, 'mac-2'),
    ...isFree(harness, idOf(harness, 1), 'quarantined'),
    ...noTokenIsLost(harness),
  ],
  withinMs: minutes(60),
};

const stateOf = ({ facts }: Harness, id: string): string | undefined => facts.host(id)?.status?.state;
