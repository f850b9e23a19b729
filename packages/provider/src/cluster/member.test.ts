import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { annotations } from '@tartan/api';
import type { KubeObject, Live, ObjectMeta } from '@tartan/kube';
import fc from 'fast-check';
import { decide, type Decision, observe, ownerClusterOf, type Snapshot } from './member.ts';

const usual: Snapshot = { deleting: false, managedElsewhere: false, owner: 'seen', pauses: [], blocksMove: true };
const skip = (reason: Extract<Decision, { kind: 'skip' }>['reason']): Decision => ({ kind: 'skip', reason });

const table: [string, Partial<Snapshot>, Decision][] = [
  ['all as it should be', {}, { kind: 'proceed' }],
  ['no owner', { owner: 'none' }, skip('noOwner')],
  ['an owner that is not seen yet', { owner: 'notSeenYet' }, skip('ownerNotSeenYet')],
  ['no owner and a pause', { owner: 'none', pauses: ['a'] }, skip('noOwner')],
  ['one pause', { pauses: ['a'] }, { kind: 'pause', why: 'a' }],
  ['an object that clusterctl would move', { blocksMove: false }, { kind: 'block move' }],
  ['the same, paused', { blocksMove: false, pauses: ['a'] }, { kind: 'pause', why: 'a' }],
  ['two pauses', { pauses: ['a', 'b'] }, { kind: 'pause', why: 'a, b' }],
  ['a deletion', { deleting: true }, skip('deleting')],
  ['a deletion while paused', { deleting: true, pauses: ['a'] }, skip('deleting')],
  ['managed elsewhere', { managedElsewhere: true }, skip('managedElsewhere')],
  ['managed elsewhere and paused', { managedElsewhere: true, pauses: ['a'] }, skip('managedElsewhere')],
];

describe('decide, for an object owned by a Cluster', () => {
  for (const [name, facts, decision] of table)
    it(`${name}: ${decision.kind}`, () => {
      assert.deepEqual(decide({ ...usual, ...facts }), decision);
    });

  it('is total, and never proceeds while the object is paused, being deleted or managed elsewhere', () => {
    const any: fc.Arbitrary<Snapshot> = fc.record({
      deleting: fc.boolean(),
      managedElsewhere: fc.boolean(),
      owner: fc.constantFrom('none', 'notSeenYet', 'seen'),
      pauses: fc.array(fc.string(), { maxLength: 2 }),
      blocksMove: fc.boolean(),
    });
    fc.assert(
      fc.property(any, (snapshot) => {
        const { kind } = decide(snapshot);
        const free = !snapshot.deleting && !snapshot.managedElsewhere && snapshot.pauses.length === 0;
        assert.equal(kind === 'proceed' || kind === 'block move', free && snapshot.owner === 'seen');
      }),
    );
  });
});

describe('observation of an object that a Cluster may own', () => {
  const live = { uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
  const cluster = { metadata: { ...live, namespace: 'ns', name: 'macs', uid: 'u-macs' }, spec: { paused: true } };
  const owner = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name: 'macs', uid: 'u-macs' };
  const object = (metadata: Partial<ObjectMeta>): Live<KubeObject> => ({
    metadata: { ...live, namespace: 'ns', name: 'a', ...metadata },
  });
  const noted = (name: string) => object({ annotations: { [name]: '' } });
  const nothing: Snapshot = { deleting: false, managedElsewhere: false, owner: 'none', pauses: [], blocksMove: false };
  const paused = ['Cluster spec.paused is set to true'];
  const rows: readonly [string, Live<KubeObject>, Partial<Snapshot>][] = [
    ['nothing', object({}), {}],
    ['its Cluster', object({ ownerReferences: [owner] }), { owner: 'seen', pauses: paused }],
    [
      'its Cluster of an older version, after another owner',
      object({
        ownerReferences: [
          { ...owner, kind: 'Machine' },
          { ...owner, apiVersion: 'cluster.x-k8s.io/v1beta1' },
        ],
      }),
      { owner: 'seen', pauses: paused },
    ],
    ['a Cluster of another group', object({ ownerReferences: [{ ...owner, apiVersion: 'other/v1' }] }), {}],
    ['an object of core that is no Cluster', object({ ownerReferences: [{ ...owner, kind: 'Machine' }] }), {}],
    ['an older Cluster of that name', object({ ownerReferences: [{ ...owner, uid: 'old' }] }), { owner: 'notSeenYet' }],
    ['a Cluster of another name', object({ ownerReferences: [{ ...owner, name: 'b' }] }), { owner: 'notSeenYet' }],
    ['its deletion', object({ deletionTimestamp: '2026-01-01T00:00:00Z' }), { deleting: true }],
    ['that somebody else manages it', noted(annotations.externallyManaged), { managedElsewhere: true }],
    ['that it blocks a move', noted(annotations.blockMove), { blocksMove: true }],
  ];
  for (const [what, seen, expected] of rows)
    it(what, () => {
      const clusters = { get: (key: string) => (key === 'ns/macs' ? cluster : undefined) };
      assert.deepEqual(observe(clusters, seen), { ...nothing, ...expected });
    });

  it('an object without metadata has no owner', () => assert.equal(ownerClusterOf({}), undefined));
});
