import { machine } from '@tartan/api';
import { leases, nodes } from '@tartan/kube';
import { fleetIsUpToDate, isHealthyMachine, noTokenIsLost } from '../expectations.ts';
import { type Harness, namespace } from '../harness.ts';
import { minutes, type Scenario } from '../run-scenario.ts';
import { fleetName, idOf, createHealthyMachines, one, two } from './setup.ts';

export const roll: Scenario = {
  key: 'roll',
  name: 'the two machines of a fleet are rolled one after the other',
  prepare: (harness) => createHealthyMachines(harness, 'mac-1', 'mac-2'),
  manager: two,
  missing: (harness) => [
    ...isHealthyMachine(harness, 'mac-1'),
    ...isHealthyMachine(harness, 'mac-2'),
    ...fleetIsUpToDate(harness, fleetName),
    ...(rolledTo(harness) ? [] : ['the fleet was never rolled']),
  ],
  withinMs: minutes(60),
};

/** All Macs have the second version: it differs from the first in tart, and so in that stamp. */
const rolledTo = ({ macs, facts }: Harness): boolean => {
  const stamps = new Set(macs.all.map(({ stamps }) => stamps['tart']));
  const fleet = facts.fleets()[0];
  return stamps.size === 1 && fleet?.status?.provenRevision !== undefined;
};

export const lostNode: Scenario = {
  key: 'rejoin',
  name: 'a Mac with an expired certificate joins again',
  prepare: async (harness) => {
    await createHealthyMachines(harness, 'mac-1');
    const { admin, macs } = harness;
    const name = 'mac-1';
    // Its last heartbeat, and the end of its certificate, are long ago.
    const status = { certificateExpires: '2025-12-08T00:00:00Z' };
    const patch = { type: 'merge', body: { status } } as const;
    await admin.patch(machine.resource, { namespace, name }, patch, { subresource: 'status' });
    const spec = { renewTime: '2025-12-01T00:00:00.000000Z' };
    await admin.patch(leases, { namespace: 'kube-node-lease', name }, { type: 'merge', body: { spec } });
    await admin.delete(nodes, { name });
    macs.get(idOf(harness, 1)).hasIdentity = false;
  },
  manager: one,
  missing: (harness) => [
    ...isHealthyMachine(harness, 'mac-1'),
    ...fleetIsUpToDate(harness, fleetName),
    ...noTokenIsLost(harness),
  ],
  withinMs: minutes(60),
};
