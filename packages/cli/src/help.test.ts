import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runTartan } from './testing/cluster.ts';

const reference = readFileSync(join(import.meta.dirname, '../../../docs/reference/cli.md'), 'utf8');

test('every command has examples and exit codes in its help, and a section in the reference', async () => {
  const names = [
    'fault list',
    'fault play',
    'fleet',
    'explain',
    'pool',
    'runners',
    'orphans',
    'roll status',
    'roll pause',
    'roll resume',
    'version',
    'pods unstick',
    'artifacts fetch',
    'artifacts verify',
    'artifacts lock',
    'doctor',
    'prepare-host',
  ];
  for (const name of names) {
    const { out } = await runTartan([...name.split(' '), '--help'], {});
    assert.match(out, /\nExamples:\n[^]*\nExit codes: 0 /, name);
    assert.ok(reference.includes(`## tartan ${name}\n`), name);
  }
});
