import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Condition, type ConditionUpdate, getCondition, isConditionTrue, setCondition } from './conditions.ts';

const noon = Date.parse('2026-01-01T12:00:00Z');
const later = noon + 60_000;
const ready = { type: 'Ready', status: 'True', reason: 'Up', message: 'fine' } as const;

describe('setCondition', () => {
  it('stamps a new condition with the time', () => {
    assert.deepEqual(setCondition(undefined, ready, noon), [{ ...ready, lastTransitionTime: '2026-01-01T12:00:00Z' }]);
  });

  const before = setCondition(undefined, ready, noon);
  const transitions: [string, ConditionUpdate, string][] = [
    ['the status changed', { ...ready, status: 'False' }, '2026-01-01T12:01:00Z'],
    ['the status became unknown', { ...ready, status: 'Unknown' }, '2026-01-01T12:01:00Z'],
    ['only the reason changed', { ...ready, reason: 'Other' }, '2026-01-01T12:00:00Z'],
    ['only the message changed', { ...ready, message: 'other' }, '2026-01-01T12:00:00Z'],
    ['only the generation changed', { ...ready, observedGeneration: 2 }, '2026-01-01T12:00:00Z'],
  ];
  for (const [name, update, time] of transitions)
    it(`has the lastTransitionTime ${time} when ${name}`, () => {
      const after = setCondition(before, update, later);
      assert.deepEqual(after, [{ ...update, lastTransitionTime: time }]);
      assert.notEqual(after, before);
    });

  it('returns the same array when nothing changes', () => {
    assert.equal(setCondition(before, ready, later), before);
  });

  it('writes an empty message when none is given', () => {
    const { message: _, ...bare } = ready;
    assert.equal(getCondition(setCondition(before, bare, later), 'Ready')?.message, '');
  });

  it('does not mutate its input', () => {
    const given = Object.freeze([Object.freeze({ ...ready, lastTransitionTime: '2026-01-01T12:00:00Z' })]);
    setCondition(given, { ...ready, status: 'False' }, later);
    setCondition(given, { ...ready, type: 'Available' }, later);
    assert.equal(given.length, 1);
  });

  it('truncates a message at the 32768 characters that the server counts', () => {
    const emoji = '🍎'.repeat(32_768);
    assert.equal(setCondition([], { ...ready, message: emoji }, noon)[0]?.message, emoji);
    const message = setCondition([], { ...ready, message: `${emoji}x` }, noon)[0]?.message ?? '';
    assert.equal(Array.from(message).length, 32_768);
    assert.ok(message.endsWith('🍎…'));
  });
});

describe('isTrue', () => {
  it('is true only for the status True', () => {
    const conditions = setCondition(setCondition([], ready, noon), { ...ready, type: 'B', status: 'Unknown' }, noon);
    assert.equal(isConditionTrue(conditions, 'Ready'), true);
    assert.equal(isConditionTrue(conditions, 'B'), false);
    assert.equal(isConditionTrue(conditions, 'C'), false);
    assert.equal(isConditionTrue(undefined, 'Ready'), false);
  });
});

const anUpdate: fc.Arbitrary<ConditionUpdate> = fc.record(
  {
    type: fc.constantFrom('A', 'B', 'Ready', 'example.com/Z'),
    status: fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const),
    reason: fc.constantFrom('X', 'Y'),
    message: fc.string({ maxLength: 3 }),
    observedGeneration: fc.nat(3),
  },
  { requiredKeys: ['type', 'status', 'reason'] },
);

describe('conditions set in any order', () => {
  it('are idempotent, unique and sorted, and lastTransitionTime changes only with the status', () => {
    fc.assert(
      fc.property(fc.array(anUpdate, { maxLength: 12 }), (updates) => {
        let conditions: readonly Condition[] = [];
        let now = noon;
        for (const update of updates) {
          now += 1000;
          const previous = getCondition(conditions, update.type);
          const after = setCondition(conditions, update, now);
          assert.equal(setCondition(after, update, now + 5000), after);
          const types = after.map(({ type }) => type);
          assert.deepEqual(types, [...new Set(types)].sort());
          const moved = getCondition(after, update.type)?.lastTransitionTime !== previous?.lastTransitionTime;
          assert.equal(moved, previous?.status !== update.status);
          for (const other of conditions)
            if (other.type !== update.type) assert.equal(getCondition(after, other.type), other);
          conditions = after;
        }
      }),
    );
  });

  it('are the same for any order of distinct types', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anUpdate, { selector: ({ type }) => type }), (updates) => {
        const set = (all: readonly ConditionUpdate[]) =>
          all.reduce((conditions: readonly Condition[], update) => setCondition(conditions, update, noon), []);
        assert.deepEqual(set(updates), set([...updates].reverse()));
      }),
    );
  });
});
