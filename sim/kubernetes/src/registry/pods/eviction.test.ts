import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { fieldsOf } from '../../unstructured.ts';
import { type Fixture, fixture, namespace, rejection } from '../testing/fixture.ts';

describe('eviction', () => {
  const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

  let cluster: Fixture;
  beforeEach(() => {
    cluster = fixture();
    cluster.create('pods', {
      metadata: { name: 'p' },
      spec: { nodeName: 'mac', containers: [{ name: 'a', image: 'a' }] },
    });
  });
  const read = () => cluster.api.get(cluster.resource('pods'), namespace, 'p');
  const evict = (deleteOptions?: object, dryRun = false): Promise<unknown> =>
    cluster.act(
      'pods',
      'eviction',
      'p',
      { metadata: { name: 'p' }, ...(deleteOptions ? { deleteOptions } : {}) },
      dryRun,
    );

  describe('an eviction', () => {
    it('sets a condition and starts the deletion', async () => {
      assert.deepEqual(await evict(), success);
      const pod = read();
      assert.equal(pod?.metadata.deletionTimestamp, '2026-01-01T00:00:30Z');
      assert.deepEqual(fieldsOf(pod?.['status'])['conditions'], [
        {
          type: 'DisruptionTarget',
          status: 'True',
          lastProbeTime: null,
          lastTransitionTime: '2026-01-01T00:00:00Z',
          reason: 'EvictionByEvictionAPI',
          message: 'Eviction API: evicting',
        },
      ]);
    });

    it('accepts a grace period of zero', async () => {
      await evict({ gracePeriodSeconds: 0 });
      assert.equal(read(), undefined);
    });

    it('supports dryRun in the query and in the body', async () => {
      const before = read();
      assert.deepEqual(await evict(undefined, true), success);
      assert.deepEqual(await evict({ dryRun: ['All'] }), success);
      assert.equal(read(), before);
    });

    it('with a resourceVersion is not a conflict with its own condition write', async () => {
      assert.deepEqual(await evict({ preconditions: { resourceVersion: read()?.metadata.resourceVersion } }), success);
      assert.ok(read()?.metadata.deletionTimestamp);
    });

    const refusals: [string, () => Promise<unknown>, string[]][] = [
      [
        'another Pod',
        () => evict({ preconditions: { uid: 'x' } }),
        [
          '409',
          'Operation cannot be fulfilled on Pod "p": the UID in the precondition (x) does not match the UID in record (uid-3). The object might have been deleted and then recreated',
        ],
      ],
      [
        'another version',
        () => evict({ preconditions: { resourceVersion: '1' } }),
        [
          '409',
          'Operation cannot be fulfilled on Pod "p": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (4). The object might have been modified',
        ],
      ],
      [
        'two minds about trying',
        () => evict({ dryRun: ['x'] }, true),
        ['500', 'Non-matching dry-run options in request and content: [All] and [x]'],
      ],
      [
        'another name',
        () => cluster.act('pods', 'eviction', 'p', { metadata: { name: 'q' } }),
        ['400', 'name in URL does not match name in Eviction object'],
      ],
      [
        'no body',
        () => cluster.act('pods', 'eviction', 'p'),
        ['400', 'name in URL does not match name in Eviction object'],
      ],
      [
        'no Pod',
        () => cluster.act('pods', 'eviction', 'q', { metadata: { name: 'q' } }),
        ['404', 'pods "q" not found'],
      ],
    ];
    for (const [name, attempt, expected] of refusals) {
      it(`is refused for ${name}`, async () => {
        assert.deepEqual(await rejection(attempt), expected);
        assert.equal(read()?.metadata.deletionTimestamp, undefined);
      });
    }
  });
});
