import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Decision, decide, type PodFacts, type Snapshot } from './decide.ts';

const pod = (uid: string, facts: Partial<PodFacts> = {}): PodFacts => ({ uid, ended: true, deleting: false, ...facts });
const drained: Snapshot = { node: { isMac: true, cordoned: true }, machine: 'deleting', pods: [pod('a')] };
const skip = (reason: Extract<Decision, { kind: 'skip' }>['reason']): Decision => ({ kind: 'skip', reason });
const wait: Decision = { kind: 'wait' };

const table: [string, Snapshot, Decision][] = [
  ['a Pod that has ended, on a Mac that goes', drained, { kind: 'reap', uids: ['a'] }],
  ['no Node', { ...drained, node: undefined }, skip('noNode')],
  ['a Node that is no Mac', { ...drained, node: { isMac: false, cordoned: true } }, skip('notAMac')],
  ['a Mac that takes Pods', { ...drained, node: { isMac: true, cordoned: false } }, skip('notCordoned')],
  ['a Mac that is cordoned, and stays', { ...drained, machine: 'staying' }, wait],
  ['a Mac with an unknown Machine', { ...drained, machine: 'unknown' }, wait],
  ['a Pod that runs', { ...drained, pods: [pod('a', { ended: false })] }, wait],
  ['a Pod that goes already', { ...drained, pods: [pod('a', { deleting: true })] }, wait],
  ['no Pods', { ...drained, pods: [] }, wait],
  [
    'some of each',
    { ...drained, pods: [pod('a'), pod('b', { ended: false }), pod('c'), pod('d', { deleting: true })] },
    { kind: 'reap', uids: ['a', 'c'] },
  ],
];

describe('decide: which Pods are reaped', () => {
  for (const [name, snapshot, decision] of table)
    it(`${name}: ${decision.kind}`, () => assert.deepEqual(decide(snapshot), decision));

  it('never a running Pod, never a Pod of a Mac that is kept', () => {
    const any: fc.Arbitrary<Snapshot> = fc.record({
      node: fc.option(fc.record({ isMac: fc.boolean(), cordoned: fc.boolean() }), { nil: undefined }),
      machine: fc.constantFrom('deleting', 'staying', 'unknown'),
      pods: fc.array(fc.record({ uid: fc.uuid(), ended: fc.boolean(), deleting: fc.boolean() })),
    });
    fc.assert(
      fc.property(any, (snapshot) => {
        const decision = decide(snapshot);
        if (decision.kind !== 'reap') return;
        assert.ok(snapshot.node?.isMac && snapshot.node.cordoned && snapshot.machine === 'deleting');
        for (const uid of decision.uids)
          assert.ok(snapshot.pods.some((facts) => facts.uid === uid && facts.ended && !facts.deleting));
      }),
    );
  });
});
