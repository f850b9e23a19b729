import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandNameOf, withCommandName } from './shell.ts';

test('the command name is kubectl tartan when it runs as a kubectl plugin', () => {
  const files = [
    '/usr/bin/kubectl-tartan',
    'kubectl-tartan.mjs',
    '/x/tartan',
    '/x/main.ts',
    '/kubectl-tartan/tartan',
    '',
  ];
  assert.deepEqual(files.map(commandNameOf), [
    'kubectl tartan',
    'kubectl tartan',
    'tartan',
    'tartan',
    'tartan',
    'tartan',
  ]);
});

test('only command examples are rewritten to kubectl tartan', () => {
  const text =
    'Run tartan fleet (see tartan explain NAME). npm run tartan -- up; dist/tartan is a folder; kubectl-tartan too.';
  assert.equal(withCommandName('tartan', text), text);
  assert.equal(
    withCommandName('kubectl tartan', text),
    'Run kubectl tartan fleet (see kubectl tartan explain NAME). npm run tartan -- up; dist/tartan is a folder; kubectl-tartan too.',
  );
});
