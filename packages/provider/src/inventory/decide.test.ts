import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { macHost } from '@tartan/api';
import fc from 'fast-check';
import { decide, type Holder, type Snapshot } from './decide.ts';

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

/** The only part of a release that varies. */
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
  ['on its way back', releasingName, [], released],
  ['on its way back, its machine being deleted', releasingName, [holder({ deleting: true })], released],
  ['on its way back, given up by its machine', releasingName, [holder({ provisioned: false })], released],
  ['called so by a person, while a machine runs on it', releasingName, [holder()], held],
  ['on its way back to a pool of another cluster', 'tuist-releasing-their-pool-00000001', [], { zone: 'z' }],
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
      if (expected !== released) return assert.deepEqual(made.spec, expected);
      assert.deepEqual(rest, { zone: 'z' });
      assert.deepEqual(
        [release?.poolPrefix, release?.serverName, release?.family, release?.reason, release?.requestedAt],
        ['other-pool-', releasingName, 'Tahoe', 'Stranded', now],
      );
    });

  it('is valid, and never held and releasing at once', () => {
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
