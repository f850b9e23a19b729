import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decide, type Decision, type Snapshot } from './member.ts';

const usual: Snapshot = { deleting: false, managedElsewhere: false, owner: 'seen', pauses: [], blocksMove: true };
const leave = (because: Extract<Decision, { kind: 'leave' }>['because']): Decision => ({ kind: 'leave', because });

const table: [string, Partial<Snapshot>, Decision][] = [
  ['all as it should be', {}, { kind: 'proceed' }],
  ['no owner', { owner: 'none' }, leave('noOwner')],
  ['an owner that is not seen yet', { owner: 'notSeenYet' }, leave('ownerNotSeenYet')],
  ['no owner and a pause', { owner: 'none', pauses: ['a'] }, leave('noOwner')],
  ['one pause', { pauses: ['a'] }, { kind: 'pause', why: 'a' }],
  ['an object that clusterctl would move', { blocksMove: false }, { kind: 'block move' }],
  ['the same, paused', { blocksMove: false, pauses: ['a'] }, { kind: 'pause', why: 'a' }],
  ['two pauses', { pauses: ['a', 'b'] }, { kind: 'pause', why: 'a, b' }],
  ['a deletion', { deleting: true }, leave('deleting')],
  ['a deletion while paused', { deleting: true, pauses: ['a'] }, leave('deleting')],
  ['managed elsewhere', { managedElsewhere: true }, leave('managedElsewhere')],
  ['managed elsewhere and paused', { managedElsewhere: true, pauses: ['a'] }, leave('managedElsewhere')],
];

describe('decide, for an object that is owned by a Cluster', () => {
  for (const [name, facts, decision] of table)
    it(`${name}: ${decision.kind}`, () => {
      assert.deepEqual(decide({ ...usual, ...facts }), decision);
    });

  it('is total, and never proceeds while paused, deleting or managed elsewhere', () => {
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
