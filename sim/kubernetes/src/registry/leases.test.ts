import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { admin, fixture, namespace, rejection } from './testing/fixture.ts';

const leases = 'leases.coordination.k8s.io';

describe('a Lease', () => {
  it('has times with microseconds', () => {
    const made = fixture().create(leases, {
      metadata: { name: 'l' },
      spec: { renewTime: '2026-01-01T01:00:00.000001+01:00' },
    });
    assert.deepEqual(made['spec'], { renewTime: '2026-01-01T00:00:00.000001Z' });
  });

  const refusals: [string, object, string[]][] = [
    [
      'no duration',
      { leaseDurationSeconds: 0 },
      ['422', 'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0'],
    ],
    [
      'fewer transitions than none',
      { leaseTransitions: -1 },
      ['422', 'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'whole seconds',
      { renewTime: '2026-01-01T00:00:00Z' },
      [
        '400',
        'Lease in version "v1" cannot be handled as a Lease: parsing time "2026-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
      ],
    ],
  ];
  for (const [name, spec, expected] of refusals) {
    it(`is refused with ${name}`, async () =>
      assert.deepEqual(await rejection(() => fixture().create(leases, { metadata: { name: 'l' }, spec })), expected));
  }

  it('is created by an update, and an update needs a resourceVersion', async () => {
    const cluster = fixture();
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' }, spec: {} } as never;
    const update = () => cluster.api.update(cluster.resource(leases), namespace, lease, admin);
    assert.equal(update().metadata.name, 'l');
    assert.deepEqual(await rejection(update), [
      '422',
      'metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    ]);
  });

  it('drops the fields of coordinated leader election', () => {
    const made = fixture().create(leases, {
      metadata: { name: 'l' },
      spec: { strategy: 'x', preferredHolder: 'y', holderIdentity: 'z' },
    });
    assert.deepEqual(made['spec'], { holderIdentity: 'z' });
  });
});
