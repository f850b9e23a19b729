import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namespaceConditions } from './namespace-conditions.ts';

const early = Date.parse('2026-01-01T00:00:00Z');
const late = Date.parse('2026-01-01T01:00:00Z');
const nothing = { remaining: new Map(), finalizers: new Map(), failures: [] };

test('the same findings again are no change', () => {
  const first = namespaceConditions([], nothing, early);
  assert.equal(first?.length, 5);
  assert.equal(namespaceConditions(first ?? [], nothing, late), undefined);
});

test('conditions of others stay, and only what changed its status has a new time', () => {
  const foreign = { type: 'Mine', status: 'True' };
  const first = namespaceConditions([foreign], nothing, early) ?? [];
  const failed = namespaceConditions(first, { ...nothing, failures: ['b', 'a'] }, late) ?? [];
  assert.deepEqual(failed[0], foreign);
  const times = Object.fromEntries(failed.slice(1).map(({ type, lastTransitionTime }) => [type, lastTransitionTime]));
  assert.equal(times['NamespaceDeletionContentFailure'], '2026-01-01T01:00:00Z');
  assert.equal(times['NamespaceContentRemaining'], '2026-01-01T00:00:00Z');
  const failure = failed.find(({ type }) => type === 'NamespaceDeletionContentFailure');
  assert.equal(failure?.message, 'Failed to delete all resource types, 2 remaining: a, b');
});
