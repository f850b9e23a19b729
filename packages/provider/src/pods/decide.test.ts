import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Decision, decide, defaultGraceMs, type Snapshot } from './decide.ts';

const minute = 60_000;
const now = Date.parse('2026-01-01T12:00:00Z');
const ago = (minutes: number) => now - minutes * minute;
const held = (deletedAt?: number) => ({ held: true, deletedAt });
const absent = (minutes: number) => ({ kind: 'absent', forMs: minutes * minute }) as const;
const unbound = { kind: 'unbound' } as const;
const present = { kind: 'present' } as const;
const skip = (reason: Extract<Decision, { kind: 'skip' }>['reason']): Decision => ({ kind: 'skip', reason });
const wait = (minutes: number): Decision => ({ kind: 'wait', forMs: minutes * minute });

const table: [string, Snapshot['pod'], Snapshot['node'], Decision][] = [
  ['no Pod', undefined, absent(60), skip('podGone')],
  ['a Pod without the finalizer', { held: false, deletedAt: ago(60) }, absent(60), skip('notHeld')],
  ['a Pod that nobody deleted', held(), absent(60), skip('notDeleted')],
  ['a deleted Pod on a Node that exists', held(ago(600)), present, skip('nodeExists')],
  ['a Node gone for long, a deletion of long ago', held(ago(60)), absent(60), { kind: 'release', reason: 'nodeGone' }],
  ['both exactly a grace old', held(ago(5)), absent(5), { kind: 'release', reason: 'nodeGone' }],
  ['a Node gone a moment ago', held(ago(60)), absent(0), wait(5)],
  ['a Node gone for 4 of 5 minutes', held(ago(60)), absent(4), wait(1)],
  ['a deletion of 2 minutes ago, a Node gone for long', held(ago(2)), absent(60), wait(3)],
  ['a Pod that has two minutes left to end', held(ago(-2)), absent(60), wait(7)],
  ['a Pod that has hours left to end', held(ago(-300)), absent(60), wait(10)],
  ['a Pod never bound, deleted long ago', held(ago(6)), unbound, { kind: 'release', reason: 'neverBound' }],
  ['a Pod never bound, deleted just now', held(ago(0)), unbound, wait(5)],
  ['an invalid deletionTimestamp', held(Number.NaN), absent(60), wait(10)],
  ['the same without a Node', held(Number.NaN), unbound, wait(10)],
];

describe('decide, for the finalizer of a Pod whose Node is gone', () => {
  for (const [name, pod, node, decision] of table)
    it(`${name}: ${decision.kind}`, () => {
      assert.deepEqual(decide({ pod, node, now, graceMs: defaultGraceMs }), decision);
    });

  const anyTime = fc.oneof(fc.double(), fc.integer({ min: -1e9, max: 1e9 }));
  const anySnapshot: fc.Arbitrary<Snapshot> = fc.record({
    pod: fc.option(fc.record({ held: fc.boolean(), deletedAt: fc.option(anyTime, { nil: undefined }) }), {
      nil: undefined,
    }),
    node: fc.oneof(
      fc.constantFrom(unbound, present),
      anyTime.map((forMs) => ({ kind: 'absent', forMs }) as const),
    ),
    now: anyTime,
    graceMs: fc.nat(1e9),
  });

  it('is total, and a wait is a finite time', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const decision = decide(snapshot);
        assert.ok(['skip', 'wait', 'release'].includes(decision.kind));
        if (decision.kind === 'wait') assert.ok(Number.isFinite(decision.forMs) && decision.forMs >= 0);
      }),
      { numRuns: 2000 },
    );
  });

  it('releases a Pod only if it is deleted, has the finalizer and has had no Node for the grace period', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        if (decide(snapshot).kind !== 'release') return;
        const { pod, node, graceMs } = snapshot;
        assert.ok(pod?.held);
        assert.ok(pod.deletedAt !== undefined && snapshot.now - pod.deletedAt >= graceMs);
        assert.ok(node.kind === 'unbound' || (node.kind === 'absent' && node.forMs >= graceMs));
      }),
      { numRuns: 2000 },
    );
  });
});
