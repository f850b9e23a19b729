import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  annotations,
  labels,
  machine as machineKind,
  type MachineSpec,
  type MacHost,
  type MacHostStatus,
  type ScalewayAppleSiliconMachine,
} from '@tartan/api';
import type { Live } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { heldBy, hostWith } from '../claim/testing/hosts.ts';
import { listerOf, machineIndexes, macHostIndexes, nodeIndexes } from '../indexes.ts';
import { demandOf, familyToInstall, hostsOfOtherOS, otherOSFor } from './os-demand.ts';
import { defaultLimits, type Release } from './snapshot.ts';

type Host = Live<MacHost>;
type Machine = Live<ScalewayAppleSiliconMachine>;

const now = Date.parse('2026-06-01T00:00:00Z');
const minute = 60_000;
const ago = (milliseconds: number): string => timestamp(now - milliseconds);

/** A machine that finds no Mac, the second one for longer than the first. */
const waiting = (
  name: string,
  os: string,
  more: { spec?: Partial<MachineSpec>; metadata?: object; status?: object; forMs?: number } = {},
): Machine => ({
  ...machineKind.make({
    metadata: { name, namespace: 'macs' },
    spec: { zone: 'fr-par-1', type: 'M2-L', os, adoptPoolPrefix: 'tuist-pool-', ...more.spec },
  }),
  metadata: {
    name,
    namespace: 'macs',
    uid: `uid-${name}`,
    resourceVersion: '1',
    creationTimestamp: ago(0),
    labels: { [labels.clusterName]: 'macs' },
    ...more.metadata,
  },
  status: { waitingForHostSince: ago(more.forMs ?? 10 * minute), ...more.status },
});

/** It has no status yet. */
const notLooked = (name: string, os: string): Machine => {
  const { status: _, ...rest } = waiting(name, os);
  return rest;
};

const release = (more: Partial<Release> = {}): Release => ({
  poolPrefix: 'tuist-pool-',
  family: 'tahoe',
  reason: 'MachineDeleted',
  requestedAt: ago(minute),
  ...more,
});
const quarantinedUntil = (until: string): MacHostStatus => ({ quarantine: { count: 1, reason: 'x', until } });
/** Being released; with `asked` its reinstall was requested. */
const back = (name: string, asked?: string, status: MacHostStatus = {}, more: Partial<Release> = {}): Host =>
  hostWith(name, {
    spec: { release: release(more) },
    status: {
      state: 'releasing',
      name: 'tuist-releasing-tuist-pool-1',
      ...(asked ? { wipe: { attempts: 1, requestedAt: ago(0) }, osRequested: { family: asked, at: ago(0) } } : {}),
      ...status,
    },
  });
const sequoia: MacHostStatus = { osFamily: 'Sequoia', osImage: 'macos-sequoia-15.6' };

const takenNode = {
  apiVersion: 'v1' as const,
  kind: 'Node' as const,
  metadata: { name: 'taken', uid: 'n', resourceVersion: '1', creationTimestamp: ago(0) },
};
const demandFor = (host: Host, machines: Machine[], hosts: Host[], defaultPoolPrefix?: string) =>
  demandOf(
    {
      machines: listerOf(machines, machineIndexes),
      macHosts: listerOf(hosts, macHostIndexes),
      nodes: listerOf([takenNode], nodeIndexes),
      defaultPoolPrefix,
      allowedPoolPrefixes: ['tuist-pool-', 'x-'],
      machineNamespaces: ['macs'],
      clock: { now: () => now },
    },
    host,
  );

const installed =
  (host: Host, machines: Machine[], others: Host[] = []) =>
  () =>
    familyToInstall(host, demandFor(host, machines, [...others, host]));
/** What is installed on `h` while a machine waits for Sequoia: 'tahoe' if it counts on the other Mac. */
const installedNextTo = (other: Host) => installed(back('h'), [waiting('a', 'Sequoia')], [other]);
const withoutStatus = ({ status: _status, ...host }: Host): Host => host;

const tableOfReleases: [title: string, installed: () => string | undefined, expected: string | undefined][] = [
  ['no machine waits', installed(back('h'), []), 'tahoe'],
  [
    'no machine waits, and the release names no macOS',
    installed(hostWith('h', { spec: { release: withoutFamily() } }), []),
    undefined,
  ],
  ['it is not being released', installed(hostWith('h'), []), undefined],
  ['a machine waits for its own', installed(back('h'), [waiting('a', 'Tahoe')]), 'Tahoe'],
  ['a machine waits for another', installed(back('h'), [waiting('a', 'Sequoia')]), 'Sequoia'],
  ['one that has not looked yet', installed(back('h'), [notLooked('a', 'Sequoia')]), 'Sequoia'],
  [
    'two wait for different ones, and one of them for its own',
    installed(back('h'), [waiting('a', 'Sequoia', { forMs: 20 * minute }), waiting('b', 'Tahoe')]),
    'Tahoe',
  ],
  [
    'two wait for others: the longer',
    installed(back('h'), [waiting('a', 'Sequoia'), waiting('b', 'Sonoma', { forMs: 20 * minute })]),
    'Sonoma',
  ],
  ['in another zone', installed(back('h'), [waiting('a', 'Sequoia', { spec: { zone: 'fr-par-3' } })]), 'tahoe'],
  ['for another type', installed(back('h'), [waiting('a', 'Sequoia', { spec: { type: 'M4-M' } })]), 'tahoe'],
  ['in another pool', installed(back('h'), [waiting('a', 'Sequoia', { spec: { adoptPoolPrefix: 'x-' } })]), 'tahoe'],
  ['for a version, which it cannot get', installed(back('h'), [waiting('a', 'macos-sequoia-15.6')]), 'tahoe'],
  [
    'one whose pool is not allowed',
    installed(back('h'), [waiting('a', 'Sequoia', { spec: { adoptPoolPrefix: 'tuist-' } })]),
    'tahoe',
  ],
  [
    'one whose namespace is not allowed',
    installed(back('h'), [waiting('a', 'Sequoia', { metadata: { namespace: 'default' } })]),
    'tahoe',
  ],
  ['one that is in no Cluster', installed(back('h'), [waiting('a', 'Sequoia', { metadata: { labels: {} } })]), 'tahoe'],
  ['one whose name a Node has', installed(back('h'), [waiting('taken', 'Sequoia')]), 'tahoe'],
  ['one that has a Mac', installed(back('h'), [waiting('a', 'Sequoia', { status: { serverID: 'x' } })]), 'tahoe'],
  [
    'one that is bound to a Mac',
    installed(back('h'), [waiting('a', 'Sequoia', { spec: { providerID: 'x' } })]),
    'tahoe',
  ],
  [
    'one that is being deleted',
    installed(back('h'), [waiting('a', 'Sequoia', { metadata: { deletionTimestamp: ago(0) } })]),
    'tahoe',
  ],
  [
    'one that is paused',
    installed(back('h'), [waiting('a', 'Sequoia', { metadata: { annotations: { [annotations.paused]: '' } } })]),
    'tahoe',
  ],
  [
    'and finds a free Mac',
    installed(back('h'), [waiting('a', 'Sequoia')], [hostWith('f', { status: sequoia })]),
    'tahoe',
  ],
  [
    'and a free Mac that another has reserved',
    installed(
      back('h'),
      [waiting('a', 'Sequoia'), waiting('b', 'Sequoia', { status: { serverID: 'f' } })],
      [hostWith('f', { status: sequoia })],
    ),
    'Sequoia',
  ],
  [
    'and one is being reinstalled for it',
    installed(back('h'), [waiting('a', 'Sequoia')], [back('c', 'sequoia')]),
    'tahoe',
  ],
  [
    'two, and one is being reinstalled for one',
    installed(back('h'), [waiting('a', 'Sequoia'), waiting('b', 'Sequoia')], [back('c', 'sequoia')]),
    'Sequoia',
  ],
  [
    'and the reinstall for it was refused',
    installed(
      back('h'),
      [waiting('a', 'Sequoia')],
      [back('c', 'sequoia', { wipe: { attempts: 1, requestedAt: ago(0), refusedAt: ago(0) } })],
    ),
    'Sequoia',
  ],
  [
    'and the reinstall for it is stuck',
    installed(
      back('h'),
      [waiting('a', 'Sequoia')],
      [back('c', 'sequoia', { wipe: { attempts: 5, requestedAt: ago(0), stuckAt: ago(0) } })],
    ),
    'Sequoia',
  ],
  ['and another one before it is undecided too', installed(back('h'), [waiting('a', 'Sequoia')], [back('g')]), 'tahoe'],
  [
    'and another one after it is undecided too',
    installed(back('h'), [waiting('a', 'Sequoia')], [back('i')]),
    'Sequoia',
  ],
  [
    'and another one before it will be in quarantine',
    installed(back('h'), [waiting('a', 'Sequoia')], [back('g', undefined, {}, { reason: 'NotWiped' })]),
    'Sequoia',
  ],
  ...([false, true] as const).flatMap((requested): typeof tableOfReleases => {
    const what = requested ? 'is being reinstalled for it' : 'is undecided';
    const other = (status: MacHostStatus = {}, more: Partial<Release> = {}): Host =>
      back('g', requested ? 'sequoia' : undefined, status, more);
    const changed = (metadata: object): Host => ({ ...other(), metadata: { ...other().metadata, ...metadata } });
    const abandoned = { annotations: { [annotations.abandon]: '' } };
    return [
      [`another before it ${what}`, installedNextTo(other()), 'tahoe'],
      [`another ${what}, in a part of its pool`, installedNextTo(other({}, { poolPrefix: 'tuist-pool-m2-' })), 'tahoe'],
      [`another ${what}, in another pool`, installedNextTo(other({}, { poolPrefix: 'my-tuist-pool-' })), 'Sequoia'],
      [`another ${what}, in another zone`, installedNextTo(inZone('fr-par-3', other())), 'Sequoia'],
      [`another ${what}, of another type`, installedNextTo(other({ type: 'M4-M' })), 'Sequoia'],
      [`another ${what}, and will be in quarantine`, installedNextTo(other({}, { reason: 'NotWiped' })), 'Sequoia'],
      [`another ${what}, in quarantine`, installedNextTo(other(quarantinedUntil(timestamp(now + 1000)))), 'Sequoia'],
      [`another ${what}, in a quarantine that ends now`, installedNextTo(other(quarantinedUntil(ago(0)))), 'tahoe'],
      [
        `another ${what}, in a quarantine without a valid end`,
        installedNextTo(other(quarantinedUntil('never'))),
        'Sequoia',
      ],
      [`another ${what}, and is being deleted`, installedNextTo(changed({ deletionTimestamp: ago(0) })), 'Sequoia'],
      [`another ${what}, and is abandoned`, installedNextTo(changed(abandoned)), 'Sequoia'],
    ];
  }),
  ['another one that was never seen', installedNextTo(withoutStatus(back('g'))), 'Sequoia'],
  [
    'another one is wiped with an unknown macOS',
    installedNextTo(back('g', undefined, { wipe: { requestedAt: ago(0) } })),
    'Sequoia',
  ],
  [
    'another one is wiped with an unknown macOS, and an earlier wipe was for Sequoia',
    installedNextTo(
      back('g', undefined, {
        wipe: { requestedAt: ago(0) },
        osRequested: { family: 'sequoia', at: ago(2 * minute) },
      }),
    ),
    'Sequoia',
  ],
  [
    'another one was asked to be reinstalled in the second of its release',
    installedNextTo(
      back('g', undefined, { wipe: { requestedAt: ago(minute) }, osRequested: { family: 'Sequoia', at: ago(minute) } }),
    ),
    'tahoe',
  ],
  [
    'the machine holds another one already',
    installedNextTo(hostWith('f', { spec: { consumerRef: heldBy('a', 'uid-a') } })),
    'tahoe',
  ],
  ['it was never seen itself', installed(withoutStatus(back('h')), [waiting('a', 'Sequoia')]), 'tahoe'],
  [
    'the release names no family: what the machine wants',
    installed(hostWith('h', { spec: { release: withoutFamily() } }), [waiting('a', 'Sequoia')]),
    'Sequoia',
  ],
  [
    'of two that wait equally long, the first by UID',
    installed(back('h'), [waiting('b', 'Sonoma'), waiting('a', 'Sequoia')]),
    'Sequoia',
  ],
  [
    'of two that wait equally long, listed the other way round, the same',
    installed(back('h'), [waiting('a', 'Sequoia'), waiting('b', 'Sonoma')]),
    'Sequoia',
  ],
  [
    'one that waits comes before one that has not looked yet',
    installed(back('h'), [notLooked('a', 'Sequoia'), waiting('b', 'Sonoma')]),
    'Sonoma',
  ],
  [
    'listed the other way round, the same',
    installed(back('h'), [waiting('b', 'Sonoma'), notLooked('a', 'Sequoia')]),
    'Sonoma',
  ],
  [
    'asked for again without an answer: for the machine that waits longest now',
    installed(back('h', 'sequoia'), [waiting('a', 'Sequoia'), waiting('b', 'Sonoma', { forMs: 20 * minute })]),
    'Sonoma',
  ],
  [
    'in no pool, and there is no default',
    installed(back('h'), [waiting('a', 'Sequoia', { spec: { adoptPoolPrefix: '' } })]),
    'tahoe',
  ],
  [
    'in the default pool',
    () => {
      const machine = waiting('a', 'Sequoia', { spec: { adoptPoolPrefix: '' } });
      return familyToInstall(back('h'), demandFor(back('h'), [machine], [back('h')], 'tuist-pool-'));
    },
    'Sequoia',
  ],
  [
    'but it will be in quarantine',
    installed(back('h', undefined, {}, { reason: 'NotWiped' }), [waiting('a', 'Sequoia')]),
    'tahoe',
  ],
  [
    'asked for again after a refusal, while the machine still waits',
    installed(back('h', 'sequoia', { wipe: { attempts: 1, requestedAt: ago(0), refusedAt: ago(0) } }), [
      waiting('a', 'Sequoia'),
    ]),
    'Sequoia',
  ],
];

function inZone(zone: string, host: Host): Host {
  return { ...host, spec: { ...host.spec, zone } };
}

function withoutFamily(): Release {
  const { family: _, ...rest } = release();
  return rest;
}

describe('the macOS of a released Mac', () => {
  for (const [title, actual, expected] of tableOfReleases)
    it(`${title}: ${expected}`, () => assert.equal(actual(), expected));
});

const converted = (machines: Machine[], hosts: Host[]): Record<string, string> =>
  Object.fromEntries(
    hosts.flatMap((host) => {
      const other = otherOSFor(host, () => demandFor(host, machines, hosts), defaultLimits);
      if (other === undefined) return [];
      const { family = 'nothing', inMs } = other;
      return [[host.metadata.name, inMs === 0 ? family : `${family} in ${inMs / 1000} s`]];
    }),
  );

const a = hostWith('a');
const b = hostWith('b');
/** Observed again, as time alone may change it. */
const later = 'nothing in 300 s';
const tableOfFree: [title: string, machines: Machine[], hosts: Host[], expected: Record<string, string>][] = [
  ['nobody waits', [], [a, b], {}],
  ['one waits, and two are free: one of them', [waiting('m', 'Sequoia')], [a, b], { a: 'sequoia', b: later }],
  ['the same, in another order', [waiting('m', 'Sequoia')], [b, a], { a: 'sequoia', b: later }],
  ['two wait', [waiting('m', 'Sequoia'), waiting('n', 'Sequoia')], [a, b], { a: 'sequoia', b: 'sequoia' }],
  ['it can claim one of them', [waiting('m', 'Tahoe')], [a, b], {}],
  [
    'one can claim the only Mac, which is not taken from it, however long another waits',
    [waiting('m', 'Tahoe'), waiting('n', 'Sequoia', { forMs: 99 * minute })],
    [a],
    { a: later },
  ],
  ['it has not looked yet', [notLooked('m', 'Sequoia')], [a], {}],
  [
    'one has not looked yet, and one has',
    [notLooked('m', 'Sequoia'), waiting('n', 'Sequoia')],
    [a, b],
    { a: 'sequoia', b: later },
  ],
  ['it is of another type', [waiting('m', 'Sequoia', { spec: { type: 'M4-M' } })], [a], {}],
  ['it waits since a moment', [waiting('m', 'Sequoia', { forMs: 20_000 })], [a], { a: 'sequoia in 40 s' }],
  ['a Mac being released is used', [waiting('m', 'Sequoia')], [a, back('r')], {}],
  ['a Mac is being reinstalled for it', [waiting('m', 'Sequoia')], [a, back('r', 'sequoia')], {}],
  [
    'a Mac is being reinstalled with something else',
    [waiting('m', 'Sequoia')],
    [a, back('r', 'tahoe')],
    { a: 'sequoia' },
  ],
  [
    'the first is abandoned',
    [waiting('m', 'Sequoia')],
    [hostWith('a', { metadata: { annotations: { [annotations.abandon]: '' } } }), b],
    { b: 'sequoia' },
  ],
  [
    'the first is held',
    [waiting('m', 'Sequoia')],
    [hostWith('a', { spec: { consumerRef: heldBy('x', 'y') } }), b],
    { b: 'sequoia' },
  ],
  [
    'the first is released, and will be in quarantine',
    [waiting('m', 'Sequoia')],
    [back('a', undefined, {}, { reason: 'NotWiped' }), b],
    { b: 'sequoia' },
  ],
  ['the first was never seen', [waiting('m', 'Sequoia')], [withoutStatus(a), b], { b: 'sequoia' }],
  [
    'the first is in another pool',
    [waiting('m', 'Sequoia')],
    [hostWith('a', { status: { name: 'x-1' } }), b],
    { a: later, b: 'sequoia' },
  ],
  [
    'the first is reserved',
    [waiting('m', 'Sequoia'), waiting('n', 'Tahoe', { status: { serverID: 'a' } })],
    [a, b],
    { a: later, b: 'sequoia' },
  ],
  [
    'the first is in quarantine',
    [waiting('m', 'Sequoia')],
    [hostWith('a', { status: quarantinedUntil(timestamp(now + minute)) }), b],
    { a: later, b: 'sequoia' },
  ],
  [
    'the first is in a quarantine without a valid end',
    [waiting('m', 'Sequoia')],
    [hostWith('a', { status: quarantinedUntil('never') }), b],
    { a: later, b: 'sequoia' },
  ],
  [
    'the first restarts',
    [waiting('m', 'Sequoia')],
    [hostWith('a', { status: { serverStatus: 'rebooting' } }), b],
    { a: later, b: 'sequoia' },
  ],
  [
    'the first was reinstalled for that an hour ago, and did not get it',
    [waiting('m', 'Sequoia')],
    [hostWith('a', { status: { osRequested: { family: 'sequoia', at: ago(60 * minute) } } }), b],
    { a: later, b: 'sequoia' },
  ],
  [
    'the same a day ago',
    [waiting('m', 'Sequoia')],
    [hostWith('a', { status: { osRequested: { family: 'sequoia', at: ago(24 * 60 * minute) } } }), b],
    { a: 'sequoia', b: later },
  ],
  [
    'the first was reinstalled for something else an hour ago',
    [waiting('m', 'Sequoia')],
    [hostWith('a', { status: { osRequested: { family: 'tahoe', at: ago(60 * minute) } } }), b],
    { a: 'sequoia', b: later },
  ],
];

describe('free Macs that are reinstalled with another macOS', () => {
  for (const [title, machines, hosts, expected] of tableOfFree)
    it(title, () => assert.deepEqual(converted(machines, hosts), expected));
});

describe('the free Macs that a machine could get with another macOS', () => {
  it('are those that lack nothing else, or that will be ready', () => {
    const hosts = [
      hostWith('fits'),
      hostWith('restarts', { status: { serverStatus: 'rebooting' } }),
      hostWith('other-pool', { status: { name: 'x-1' } }),
      hostWith('other-type', { status: { type: 'M4-M' } }),
      hostWith('other-zone', { spec: { zone: 'fr-par-3' } }),
      hostWith('abandoned', { metadata: { annotations: { [annotations.abandon]: '' } } }),
      hostWith('held', { spec: { consumerRef: heldBy('x', 'y') } }),
    ];
    const macHosts = listerOf(hosts, macHostIndexes);
    const found = hostsOfOtherOS(
      { macHosts, clock: { now: () => now }, defaultPoolPrefix: undefined },
      waiting('a', 'Sequoia'),
    );
    assert.deepEqual(
      found.map(({ metadata }) => metadata.name),
      ['fits', 'restarts'],
    );
  });
});

/** Counts how often `status` of one of these Macs is read. */
const counting = (hosts: Host[]): { hosts: Host[]; reads: () => number } => {
  let reads = 0;
  const counted = hosts.map((host) =>
    Object.defineProperty({ ...host }, 'status', {
      enumerable: true,
      get: () => {
        reads += 1;
        return host.status;
      },
    }),
  );
  return { hosts: counted, reads: () => reads };
};
const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

describe('the cost of a pass', () => {
  const readsWith = (count: number, status: (index: number) => MacHostStatus): number => {
    const machines = many(count, (index) => waiting(`m${index}`, 'Sequoia'));
    const { hosts, reads } = counting(many(count, (index) => hostWith(`h${index}`, { status: status(index) })));
    const host = hosts[0] ?? assert.fail();
    const demand = demandFor(host, machines, hosts);
    const before = reads();
    otherOSFor(host, () => demand, defaultLimits);
    return reads() - before;
  };

  it('grows with the Macs, not with Macs times machines, when one Mac fits', () => {
    const one = (index: number): MacHostStatus => (index === 0 ? {} : { name: 'x-1', ...sequoia });
    const [few, more] = [readsWith(50, one), readsWith(100, one)];
    assert.ok(more <= 2 * few, `${few} reads with 50 of each, ${more} with 100`);
    assert.ok(more <= 100 * 20, `${more} reads`);
  });

  it('is that of one Mac, when that fits no machine', () => {
    const none = (): MacHostStatus => ({ name: 'x-1', ...sequoia });
    assert.equal(readsWith(100, none), readsWith(1, none));
  });

  it('asks for no Node and no reservation then', () => {
    const machines = many(10, (index) => waiting(`m${index}`, 'Sequoia'));
    const hosts = many(10, (index) => hostWith(`h${index}`, { status: { name: 'x-1' } }));
    const host = hosts[0] ?? assert.fail();
    const asked: string[] = [];
    const lister = listerOf(machines, machineIndexes);
    const demand = demandOf(
      {
        machines: {
          ...lister,
          byIndex: (index, value) => {
            asked.push(index);
            return lister.byIndex(index, value);
          },
        },
        macHosts: {
          ...listerOf(hosts, macHostIndexes),
          byIndex: (index) => assert.fail(index),
        },
        nodes: { ...listerOf([takenNode], nodeIndexes), get: (key) => assert.fail(key) },
        defaultPoolPrefix: undefined,
        allowedPoolPrefixes: ['tuist-pool-'],
        machineNamespaces: ['macs'],
        clock: { now: () => now },
      },
      host,
    );
    assert.deepEqual(
      otherOSFor(host, () => demand, defaultLimits),
      { family: undefined, inMs: 300_000 },
    );
    assert.deepEqual(asked, ['withoutHost']);
  });
});
