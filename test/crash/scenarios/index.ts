import { annotations, finalizers, machine } from '@tartan/api';
import { leases, nodes } from '@tartan/kube';
import { fleetIsUpToDate, hasKey, hasLeftNothing, isFree, lives, noTokenIsLost } from '../expectations.ts';
import { minutes, type Scenario } from '../scenario.ts';
import { untilDone } from '../until-done.ts';
import { namespace, type World } from '../world.ts';

const fleetName = 'runners';
const one = { version: 'one' };
const two = { version: 'two' };

const addMachine = ({ admin }: World, name: string, annotations: Record<string, string> = {}): Promise<unknown> =>
  admin.create(machine.resource, machine.make({ metadata: { name, namespace, annotations }, spec: { fleetName } }));

const orderMacs = async ({ order }: World, count: number): Promise<void> => {
  for (let each = 0; each < count; each += 1) await order();
};

/** So many Macs in the pool, each with its MacHost, and the first of them there for longest. */
const knownPool = async (world: World, count: number): Promise<void> => {
  for (let each = 0; each < count; each += 1) {
    await orderMacs(world, 1);
    const { id } = world.macs.all[each] ?? { id: '' };
    await untilDone(world, one, () => isFree(world, id), minutes(10));
  }
};

/** Machines that live, made by the first version. */
const livingMachines = async (world: World, ...names: readonly string[]): Promise<void> => {
  await orderMacs(world, names.length);
  for (const name of names) await addMachine(world, name);
  const missing = () => [...names.flatMap((name) => lives(world, name)), ...fleetIsUpToDate(world, fleetName)];
  await untilDone(world, one, missing, minutes(20));
};

const idOf = ({ macs }: World, number: number): string => macs.all[number - 1]?.id ?? '';

const found: Scenario = {
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

const claimAndBootstrap: Scenario = {
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

const failedBootstrap: Scenario = {
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

const notWiped: Scenario = {
  key: 'unwiped',
  mostlyKnown: true,
  name: 'a Mac with traces of another machine is given back at once, and another one is claimed',
  prepare: async (world) => {
    await knownPool(world, 2);
    await addMachine(world, 'mac-1');
    world.macs.get(idOf(world, 1)).stamps = { 'agent-release': 'somebody else’s' };
  },
  manager: one,
  missing: (world) => [
    ...lives(world, 'mac-1'),
    ...isFree(world, idOf(world, 1), 'quarantined'),
    ...noTokenIsLost(world),
  ],
  withinMs: minutes(60),
};

const roll: Scenario = {
  key: 'roll',
  name: 'a fleet of two is rolled, one after the other',
  prepare: (world) => livingMachines(world, 'mac-1', 'mac-2'),
  manager: two,
  missing: (world) => [
    ...lives(world, 'mac-1'),
    ...lives(world, 'mac-2'),
    ...fleetIsUpToDate(world, fleetName),
    ...(rolledTo(world) ? [] : ['the fleet was never rolled']),
  ],
  withinMs: minutes(60),
};

/** All Macs have what the second version makes of them: it differs from the first in tart, and so in that stamp. */
const rolledTo = ({ macs, facts }: World): boolean => {
  const stamps = new Set(macs.all.map(({ stamps }) => stamps['tart']));
  const fleet = facts.fleets()[0];
  return stamps.size === 1 && fleet?.status?.provenRevision !== undefined;
};

const release: Scenario = {
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

const sweep: Scenario = {
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

const lostNode: Scenario = {
  key: 'rejoin',
  name: 'a Mac that was off for too long joins anew',
  prepare: async (world) => {
    await livingMachines(world, 'mac-1');
    const { admin, macs } = world;
    const name = 'mac-1';
    // Its last heartbeat, and the end of its certificate, are long ago.
    const status = { certificateExpires: '2025-12-08T00:00:00Z' };
    const patch = { type: 'merge', body: { status } } as const;
    await admin.patch(machine.resource, { namespace, name }, patch, { subresource: 'status' });
    const spec = { renewTime: '2025-12-01T00:00:00.000000Z' };
    await admin.patch(leases, { namespace: 'kube-node-lease', name }, { type: 'merge', body: { spec } });
    await admin.delete(nodes, { name });
    macs.get(idOf(world, 1)).hasIdentity = false;
  },
  manager: one,
  missing: (world) => [...lives(world, 'mac-1'), ...fleetIsUpToDate(world, fleetName), ...noTokenIsLost(world)],
  withinMs: minutes(60),
};

/** The shortest first. */
export const scenarios: readonly Scenario[] = [
  found,
  sweep,
  release,
  lostNode,
  roll,
  claimAndBootstrap,
  notWiped,
  failedBootstrap,
];
