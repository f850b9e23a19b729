import { macFleet, machine } from '@tartan/api';
import { clusterMember } from '../../../packages/provider/src/core/testing/cluster-member.ts';
import { fleetIsUpToDate, isFree, isHealthyMachine } from '../expectations.ts';
import { freeLease, type Harness, type ManagerOptions, namespace } from '../harness.ts';
import { minutes } from '../run-scenario.ts';

/** Runs a manager until nothing is missing, then stops it cleanly. For the preparation of a scenario. */
export const runManagerUntil = async (
  harness: Harness,
  manager: ManagerOptions,
  missing: () => readonly string[],
  withinMs: number,
): Promise<void> => {
  const running = harness.startManager(manager);
  const done = await harness.time.pass(withinMs, () => missing().length === 0);
  if (!done) throw new Error(`${missing().join('; ')}\n${harness.lines.slice(-30).join('')}`);
  // For later effects, such as events and the removal of unneeded tokens.
  await harness.time.pass(60_000);
  running.kill();
  await freeLease(harness.admin);
};

export const fleetName = 'runners';
export const one = { version: 'one' };
export const two = { version: 'two' };

export const addMachine = async ({ admin }: Harness, name: string): Promise<void> => {
  const at = { namespace, name };
  const metadata = { ...at, ...(await clusterMember(admin, at)) };
  await admin.create(machine.resource, machine.make({ metadata, spec: { fleetName } }));
};

/** A fleet without machines gets its SSH key, too. */
export const addFleet = async ({ admin }: Harness): Promise<void> => {
  await admin.create(macFleet.resource, macFleet.make({ metadata: { namespace, name: fleetName } }));
};

export const orderMacs = async ({ order }: Harness, count: number): Promise<void> => {
  for (let each = 0; each < count; each += 1) await order();
};

/** So many Macs in the pool, each with its MacHost, the oldest first. */
export const createPool = async (harness: Harness, count: number): Promise<void> => {
  for (let each = 0; each < count; each += 1) {
    const { id } = await harness.order();
    await runManagerUntil(harness, one, () => isFree(harness, id), minutes(10));
  }
};

/** Healthy machines, created by the first version. */
export const createHealthyMachines = async (harness: Harness, ...names: readonly string[]): Promise<void> => {
  await orderMacs(harness, names.length);
  for (const name of names) await addMachine(harness, name);
  const missing = () => [
    ...names.flatMap((name) => isHealthyMachine(harness, name)),
    ...fleetIsUpToDate(harness, fleetName),
  ];
  await runManagerUntil(harness, one, missing, minutes(20));
};

export const idOf = ({ macs }: Harness, number: number): string => macs.all[number - 1]?.id ?? '';
