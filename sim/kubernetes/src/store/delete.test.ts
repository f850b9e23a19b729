import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Resource } from '../resource.ts';
import { finalizersFor, gracePeriodOf } from './delete.ts';
import { thing, things } from './testing/thing-resource.ts';

const finalizers: [existing: string[], policy: 'Orphan' | 'Background' | 'Foreground' | undefined, result: string[]][] =
  [
    [[], undefined, []],
    [['x'], undefined, ['x']],
    [['orphan'], undefined, ['orphan']],
    [['x'], 'Foreground', ['x', 'foregroundDeletion']],
    [['x', 'orphan'], 'Foreground', ['x', 'foregroundDeletion']],
    [['foregroundDeletion'], 'Orphan', ['orphan']],
    [['x', 'foregroundDeletion', 'orphan'], 'Background', ['x']],
  ];

for (const [existing, policy, result] of finalizers) {
  test(`${policy ?? 'no'} propagation turns [${existing.join(', ')}] into [${result.join(', ')}]`, () => {
    assert.deepEqual(finalizersFor(existing, policy), result);
  });
}

const now = Date.parse('2026-01-01T00:01:00Z');
const graceful: Resource = {
  ...things,
  strategy: { ...things.strategy, graceful: true, gracePeriodSeconds: (_object, requested) => requested ?? 30 },
};
const deleting = (seconds: number, ago: number) => {
  const object = thing('a');
  object.metadata.deletionTimestamp = new Date(now - ago * 1000 + seconds * 1000).toISOString();
  object.metadata.deletionGracePeriodSeconds = seconds;
  return object;
};

test('a kind without graceful deletion is deleted at once', () => {
  assert.deepEqual(gracePeriodOf(things, thing('a'), { gracePeriodSeconds: 9 }, now), { kind: 'none' });
});

const graces: [what: string, object: ReturnType<typeof thing>, requested: number | undefined, result: unknown][] = [
  [
    'the first delete takes the grace of the kind',
    thing('a'),
    undefined,
    { kind: 'mark', seconds: 30, until: now + 30_000 },
  ],
  ['a negative grace is one second', thing('a'), -5, { kind: 'mark', seconds: 1, until: now + 1_000 }],
  ['a second delete waits for the first', deleting(30, 10), undefined, { kind: 'pending' }],
  ['a second delete cannot lengthen the grace', deleting(30, 10), 60, { kind: 'pending' }],
  ['a second delete can shorten the grace', deleting(30, 10), 20, { kind: 'mark', seconds: 20, until: now + 10_000 }],
  ['a shortened grace does not end in the past', deleting(30, 20), 5, { kind: 'mark', seconds: 1, until: now }],
  ['a forced delete ends at once', deleting(30, 20), 0, { kind: 'mark', seconds: 0, until: now }],
  ['a grace that is over needs no mark', deleting(0, 20), undefined, { kind: 'none' }],
];

for (const [what, object, requested, result] of graces) {
  test(what, () => {
    assert.deepEqual(
      gracePeriodOf(graceful, object, requested === undefined ? {} : { gracePeriodSeconds: requested }, now),
      result,
    );
  });
}
