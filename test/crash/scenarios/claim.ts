import { fleetIsUpToDate, hasKey, isFree, isHealthyMachine, noTokenIsLost } from '../expectations.ts';
import { minutes, type Scenario } from '../run-scenario.ts';
import { addFleet, addMachine, fleetName, idOf, one, orderMacs, runManagerUntil } from './setup.ts';

export const inventory: Scenario = {
  key: 'inventory',
  name: 'new Macs get a MacHost, and a fleet gets its SSH key',
  prepare: async (harness) => {
    await orderMacs(harness, 2);
    await addFleet(harness);
  },
  manager: one,
  missing: (harness) => [
    ...isFree(harness, idOf(harness, 1)),
    ...isFree(harness, idOf(harness, 2)),
    ...hasKey(harness, fleetName),
    ...fleetIsUpToDate(harness, fleetName),
  ],
  withinMs: minutes(20),
};

export const claimAndBootstrap: Scenario = {
  key: 'claim',
  name: 'two machines claim two of three Macs and bootstrap them',
  prepare: async (harness) => {
    await orderMacs(harness, 3);
    await addFleet(harness);
    const missing = () => [...harness.macs.all.flatMap(({ id }) => isFree(harness, id)), ...hasKey(harness, fleetName)];
    await runManagerUntil(harness, one, missing, minutes(10));
    for (const name of ['mac-1', 'mac-2']) await addMachine(harness, name);
  },
  manager: one,
  missing: (harness) => [
    ...isHealthyMachine(harness, 'mac-1'),
    ...isHealthyMachine(harness, 'mac-2'),
    ...fleetIsUpToDate(harness, fleetName),
    ...noTokenIsLost(harness),
  ],
  withinMs: minutes(30),
};
