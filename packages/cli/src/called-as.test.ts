import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calledAs } from './called-as.ts';
import { inTheWordsOf } from './shell.ts';

test('a plugin of kubectl knows that it is one', () => {
  const files = [
    '/usr/bin/kubectl-tartan',
    'kubectl-tartan.mjs',
    '/x/tartan',
    '/x/main.ts',
    '/kubectl-tartan/tartan',
    '',
  ];
  assert.deepEqual(files.map(calledAs), ['kubectl tartan', 'kubectl tartan', 'tartan', 'tartan', 'tartan', 'tartan']);
});

test('only what people type is put into their words', () => {
  const text =
    'Run tartan fleet (see tartan explain NAME). npm run tartan -- up; dist/tartan is a folder; kubectl-tartan too.';
  assert.equal(inTheWordsOf('tartan', text), text);
  assert.equal(
    inTheWordsOf('kubectl tartan', text),
    'Run kubectl tartan fleet (see kubectl tartan explain NAME). npm run tartan -- up; dist/tartan is a folder; kubectl-tartan too.',
  );
});
