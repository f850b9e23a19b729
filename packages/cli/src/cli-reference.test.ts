import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { cliReference, fieldsOf, schemas } from './cli-reference.ts';
import { runTartan } from './testing/cluster.ts';

test('docs/reference/cli.md says what --help says (npm run generate)', () => {
  assert.equal(readFileSync(join(import.meta.dirname, '../../../docs/reference/cli.md'), 'utf8'), cliReference());
});

test('every command that prints JSON has a schema, and every command has exit codes in its help', async () => {
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
    assert.ok(cliReference().includes(`## tartan ${name}\n`), name);
  }
});

test('fieldsOf lists every field of a schema', () => {
  const { fleet } = schemas;
  const fields = fleet ? fieldsOf(fleet) : [];
  assert.deepEqual(
    fields.find(({ path }) => path === 'macs[].vms[].waiting'),
    {
      path: 'macs[].vms[].waiting',
      type: 'string, or null',
      description: 'The waiting reason that the agent reports.',
    },
  );
});
