import { randomUUID } from 'node:crypto';
import { macFleet } from '../../kinds/mac-fleet.ts';
import { macHost } from '../../kinds/mac-host.ts';
import { machine, machineTemplate } from '../../kinds/machine.ts';
import { runnerPool } from '../../kinds/runner-pool.ts';
import { type Behaviour, type Fixture, refuses } from './behaviours.ts';

/** What the API server itself rejects, from any client, with a message for people. */

const holder = (uid: string) => ({ apiVersion: 'v1', kind: 'Thing', namespace: 'here', name: 'mac-1', uid });
const release = {
  poolPrefix: 'tuist-pool-',
  reason: 'MachineDeleted',
  requestedAt: '2026-11-16T12:00:00Z',
} as const;

type HostSpec = NonNullable<Parameters<typeof macHost.make>[0]['spec']>;

/** Creates a MacHost for one behaviour, since MacHosts are cluster-scoped, and deletes it afterwards. */
const withHost = async (
  { client }: Fixture,
  spec: HostSpec,
  use: (change: (spec: object) => Promise<unknown>, setState: (state: string) => Promise<unknown>) => Promise<void>,
): Promise<void> => {
  const name = { name: `mac-${randomUUID()}` };
  await client.create(macHost.resource, macHost.make({ metadata: name, spec }));
  const change = (body: object) => client.patch(macHost.resource, name, { type: 'merge', body: { spec: body } });
  const setState = (state: string) =>
    client.patch(macHost.resource, name, { type: 'merge', body: { status: { state } } }, { subresource: 'status' });
  try {
    await use(change, setState);
  } finally {
    await client.delete(macHost.resource, name);
  }
};

const zone = 'fr-par-1';

const hosts: readonly Behaviour[] = [
  {
    sentence: 'a Mac is held or released, never both',
    run: (fixture) =>
      withHost(fixture, { zone, consumerRef: holder('a') }, async (change) => {
        await refuses(change({ release }), /either held or being released/);
        await change({ release, consumerRef: null });
      }),
  },
  {
    sentence: 'a Mac that is held goes to nobody else, not even to a namesake',
    run: (fixture) =>
      withHost(fixture, { zone, consumerRef: holder('a') }, async (change) => {
        await refuses(change({ consumerRef: holder('b') }), /another machine holds this Mac/);
        await change({ poolPrefix: 'tuist-pool-' });
      }),
  },
  {
    sentence: 'a Mac that is being released cannot be claimed in the same breath',
    run: (fixture) =>
      withHost(fixture, { zone, release }, async (change) => {
        await refuses(change({ release: null, consumerRef: holder('a') }), /being released to the pool/);
        await change({ release: null });
        await change({ consumerRef: holder('a') });
      }),
  },
  {
    sentence: 'a Mac in quarantine cannot be claimed, one in the pool can',
    run: (fixture) =>
      withHost(fixture, { zone }, async (change, setState) => {
        for (const state of ['quarantined', 'releasing']) {
          await setState(state);
          await refuses(
            change({ consumerRef: holder('a') }),
            /neither being released, nor in quarantine, nor abandoned/,
          );
        }
        await setState('pool');
        await change({ consumerRef: holder('a') });
        await setState('releasing');
        await change({ poolPrefix: 'tuist-pool-' });
      }),
  },
  {
    sentence: 'a Mac does not move',
    run: (fixture) =>
      withHost(fixture, { zone }, (change) => refuses(change({ zone: 'nl-ams-1' }), /does not move to another zone/)),
  },
  {
    sentence: 'a state or a reason that nobody knows is refused',
    run: (fixture) =>
      withHost(fixture, { zone }, async (change, setState) => {
        await refuses(setState('lost'), /supported values: "pool", "held"/);
        await refuses(change({ release: { ...release, reason: 'Boredom' } }), /supported values: "MachineDeleted"/);
      }),
  },
];

const machines: readonly Behaviour[] = [
  {
    sentence: 'providerID is never overwritten, and stays once the machine is provisioned',
    run: async ({ client, namespace }) => {
      const name = { name: 'bound', namespace };
      const spec = { providerID: 'scw-applesilicon://fr-par-1/a' };
      await client.create(machine.resource, machine.make({ metadata: name, spec }));
      const set = (providerID: string | null) =>
        client.patch(machine.resource, name, { type: 'merge', body: { spec: { providerID } } });
      await refuses(set('scw-applesilicon://fr-par-1/b'), /a machine keeps its server/);
      // A Mac that could not be provisioned is released, and the machine claims another one.
      await set(null);
      await set('scw-applesilicon://fr-par-1/b');
      const status = { initialization: { provisioned: true } };
      await client.patch(machine.resource, name, { type: 'merge', body: { status } }, { subresource: 'status' });
      await refuses(set(null), /provisioned machine stays/);
    },
  },
  {
    sentence: 'a template does not change, but what it bears does',
    run: async ({ client, namespace }) => {
      const name = { name: 'fixed', namespace };
      await client.create(machineTemplate.resource, machineTemplate.make({ metadata: name, spec: { template: {} } }));
      const change = (body: object) => client.patch(machineTemplate.resource, name, { type: 'merge', body });
      await refuses(change({ spec: { template: { spec: { hostCPU: 4 } } } }), /create one under another name/);
      await change({ metadata: { labels: { owner: 'core' } } });
    },
  },
  {
    sentence: 'a template that no Mac could ever match is refused when it is written (INC-328)',
    run: async ({ client, namespace }) => {
      const make = (spec: object) =>
        client.create(
          machineTemplate.resource,
          machineTemplate.make({ metadata: { name: 'wrong', namespace }, spec: { template: { spec } } }),
        );
      await refuses(make({ os: 'macos-tahoe-26.3' }), /release family such as Tahoe, not a version/);
      await refuses(make({ zone: 'Paris' }), /zone of Scaleway such as fr-par-1/);
      await refuses(make({ type: '' }), /type of Mac at Scaleway such as M2-L/);
    },
  },
];

const others: readonly Behaviour[] = [
  {
    sentence: 'a fleet rolls at least one Mac at a time',
    run: async ({ client, namespace }) => {
      const fleet = macFleet.make({ metadata: { name: 'none', namespace } });
      const wrong = { ...fleet, spec: { ...fleet.spec, maxUnavailable: 0 } };
      await refuses(client.create(macFleet.resource, wrong), /maxUnavailable.*greater than or equal to 1/);
    },
  },
  {
    sentence: 'runners belong to an organization or a repository',
    run: async ({ client, namespace }) => {
      const create = (github: { organization?: string; repository?: string }) =>
        client.create(
          runnerPool.resource,
          runnerPool.make({
            metadata: { name: 'lost', namespace },
            spec: { image: 'macos:26', fleetSelector: 'runners', github: { ...github, appSecretName: 'app' } },
          }),
        );
      await refuses(create({}), /exactly one of them/);
      await refuses(create({ organization: 'tuist', repository: 'tuist/tuist' }), /exactly one of them/);
      await refuses(create({ repository: 'tuist' }), /written as owner\/name/);
      await create({ repository: 'tuist/tuist' });
    },
  },
  {
    sentence: 'two conditions of one type are refused',
    run: async ({ client, namespace }) => {
      const name = { name: 'twice', namespace };
      await client.create(macFleet.resource, macFleet.make({ metadata: name }));
      const ready = {
        type: 'Ready',
        status: 'True',
        reason: 'UpToDate',
        message: '',
        lastTransitionTime: '2026-11-16T12:00:00Z',
      };
      const write = (conditions: object[]) =>
        client.patch(
          macFleet.resource,
          name,
          { type: 'merge', body: { status: { conditions } } },
          { subresource: 'status' },
        );
      await refuses(write([ready, ready]), /conditions\[1\]: Duplicate value/);
      await write([ready]);
    },
  },
];

export const refusals: readonly Behaviour[] = [...hosts, ...machines, ...others];
