import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machine, macHost } from '@tartan/api';
import type { Server } from '@tartan/scaleway';
import fc from 'fast-check';
import type { Machine } from '../controller-deps.ts';
import { decide, type Holder, observe, type Snapshot } from './decide.ts';

const ref = (name: string) => ({ apiVersion: 'g/v1', kind: 'K', namespace: 'fleet', name, uid: `uid-${name}` });
const holder = (more: Partial<Holder> = {}): Holder => ({
  serverID: 'server-1',
  ref: ref('mac-1'),
  poolPrefix: 'tuist-pool-',
  deleting: false,
  provisioned: true,
  ...more,
});
const held = { zone: 'z', consumerRef: ref('mac-1'), poolPrefix: 'tuist-pool-' };
const now = '2026-01-01T00:00:00Z';
const releasingName = 'tuist-releasing-other-pool-00000001';

const released = 'release to other-pool-';

const table: [string, string, Holder[], object | string][] = [
  ['a pool name', 'tuist-pool-1', [], { zone: 'z' }],
  ['a claim that was never finished', 'tuist-claim-pending-1', [], { zone: 'z' }],
  ['a stranger', 'somebody', [], { zone: 'z' }],
  ['a machine has it', 'mac-1', [holder()], held],
  ['a machine has it that is being deleted', 'mac-1', [holder({ deleting: true })], held],
  ['a machine has it, whatever its name', 'tuist-pool-1', [holder({ provisioned: false })], held],
  [
    'a machine without a pool has it',
    'mac-1',
    [holder({ poolPrefix: undefined })],
    { zone: 'z', consumerRef: ref('mac-1') },
  ],
  ['two machines have it', 'mac-1', [holder(), holder({ ref: ref('mac-2') })], { zone: 'z' }],
  ['another one is had', 'mac-1', [holder({ serverID: 'server-2' })], { zone: 'z' }],
  ['being released', releasingName, [], released],
  ['being released, its machine being deleted', releasingName, [holder({ deleting: true })], released],
  ['being released, given up by its machine', releasingName, [holder({ provisioned: false })], released],
  ['called so by a person, while a machine runs on it', releasingName, [holder()], held],
  ['being released to a pool of another cluster', 'tuist-releasing-their-pool-00000001', [], { zone: 'z' }],
  [
    'being released to a pool that is not known, its machine being deleted',
    'tuist-releasing-their-pool-00000001',
    [holder({ deleting: true })],
    'release to their-pool-',
  ],
  ['a releasing name that tells no pool', 'tuist-releasing-1', [], { zone: 'z' }],
];

const snapshotOf = (name: string, holders: readonly Holder[]): Snapshot => ({
  zone: 'z',
  servers: [{ id: 'server-1', name, family: 'Tahoe' }],
  holders,
  poolPrefixes: new Set(['tuist-pool-', 'other-pool-']),
  now,
});

describe('the MacHost of a server that has none', () => {
  for (const [sentence, name, holders, expected] of table)
    it(sentence, () => {
      const [made] = decide(snapshotOf(name, holders));
      assert.equal(made?.id, 'server-1');
      const { release, ...rest } = made.spec;
      if (typeof expected !== 'string') return assert.deepEqual(made.spec, expected);
      assert.deepEqual(rest, { zone: 'z' });
      assert.deepEqual(
        [release?.serverName, release?.family, release?.reason, release?.requestedAt],
        [name, 'Tahoe', 'Stranded', now],
      );
      assert.equal(`release to ${release?.poolPrefix}`, expected);
      assert.match(release?.message ?? '', /It is wiped again\.$/);
    });

  it('is valid, and never both held and releasing', () => {
    const anyHolder = fc.record({
      deleting: fc.boolean(),
      provisioned: fc.boolean(),
      poolPrefix: fc.constantFrom('', 'p-', undefined),
      serverID: fc.constantFrom('server-1', 'server-2'),
    });
    const anyName = fc.oneof(fc.string(), fc.constantFrom('mac-1', releasingName, 'tuist-releasing-'));
    fc.assert(
      fc.property(anyName, fc.array(anyHolder, { maxLength: 3 }), (name, holders) => {
        const [made] = decide(
          snapshotOf(
            name,
            holders.map((each) => holder(each)),
          ),
        );
        assert.ok(made && !(made.spec.consumerRef && made.spec.release));
        macHost.make({ metadata: { name: made.id }, spec: made.spec });
      }),
    );
  });
});

describe('observation of servers without a MacHost', () => {
  const live = { namespace: 'fleet', uid: 'u', resourceVersion: '1', creationTimestamp: now };
  const machineOf = (name: string, status: object | undefined, more: object = {}, spec: object = {}): Machine => {
    const metadata = { name, ...live, ...more };
    return { ...machine.make({ metadata, spec }), metadata, ...(status && { status }) };
  };
  const macHosts = [{}, { poolPrefix: 'held-' }, { release: { poolPrefix: 'back-' } }].map((spec) => ({ spec }));
  const refOf = (name: string) => ({
    ...ref(name),
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
    kind: 'ScalewayAppleSiliconMachine',
    uid: 'u',
  });

  it('reads their names and OS families, machines that have a server, and all pools', () => {
    const servers = [
      { id: '1', name: 'a', os: { family: 'Tahoe' } },
      { id: '2', name: 'b' },
    ] as unknown as readonly Server[];
    const machines = [
      machineOf('without-status', undefined),
      machineOf('without-server', {}),
      machineOf('new', { serverID: '1' }),
      machineOf('ready', { serverID: '2', initialization: { provisioned: true } }, {}, { adoptPoolPrefix: 'own-' }),
      machineOf('going', { serverID: '3', initialization: {} }, { deletionTimestamp: now }),
    ];
    const found = observe('z', servers, {
      machines,
      macHosts: { list: () => macHosts } as never,
      defaultPoolPrefix: 'default-',
      allowedPoolPrefixes: ['allowed-'],
      now: Date.parse(now),
    });
    const usual = { poolPrefix: 'default-', deleting: false, provisioned: false };
    assert.deepEqual(found, {
      zone: 'z',
      servers: [
        { id: '1', name: 'a', family: 'Tahoe' },
        { id: '2', name: 'b', family: undefined },
      ],
      holders: [
        { ...usual, serverID: '1', ref: refOf('new') },
        { ...usual, serverID: '2', ref: refOf('ready'), poolPrefix: 'own-', provisioned: true },
        { ...usual, serverID: '3', ref: refOf('going'), deleting: true },
      ],
      poolPrefixes: new Set(['allowed-', 'held-', 'back-']),
      now,
    });
  });
});
