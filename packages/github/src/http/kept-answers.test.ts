import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeptAnswers } from './kept-answers.ts';

test('of kept answers, the one that nobody asked for goes first', () => {
  const kept = createKeptAnswers(2);
  for (const question of ['one', 'two']) kept.keep(question, { etag: question, body: {} });
  kept.get('one');
  kept.keep('three', { etag: 'three', body: {} });
  assert.deepEqual(
    ['one', 'two', 'three'].map((question) => kept.get(question)?.etag),
    ['one', undefined, 'three'],
  );
});
