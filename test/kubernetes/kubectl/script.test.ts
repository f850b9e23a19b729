import assert from 'node:assert/strict';
import { test } from 'node:test';
import { substitute, words } from './script.ts';

test('a command line is split as a shell splits it', () => {
  const table: [line: string, words: string[]][] = [
    ['get pods', ['get', 'pods']],
    ['  get   pods ', ['get', 'pods']],
    [`get -o jsonpath='{.a b}' x`, ['get', '-o', 'jsonpath={.a b}', 'x']],
    [`patch -p '{"a": "b"}'`, ['patch', '-p', '{"a": "b"}']],
    [`annotate a="it's"`, ['annotate', `a=it's`]],
    [`label ''`, ['label', '']],
    ['', []],
  ];
  for (const [line, expected] of table) assert.deepEqual(words(line), expected, line);
});

test('a quote that is not closed is an error', () => {
  assert.throws(() => words(`get 'pods`), /not closed/);
});

test('variables are replaced by what was captured, and unknown ones stay', () => {
  assert.equal(substitute('uid: $UID of $OTHER', new Map([['UID', '1']])), 'uid: 1 of $OTHER');
});
