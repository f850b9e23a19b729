import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { jsonSchemas } from '@tartan/cli';
import { cliPage, fieldsOf } from './cli.ts';

test('docs/reference/cli.md equals the output of --help (npm run generate)', () => {
  assert.equal(readFileSync(join(import.meta.dirname, '../../../../docs/reference/cli.md'), 'utf8'), cliPage());
});

test('fieldsOf lists every field of a schema', () => {
  const { fleet } = jsonSchemas;
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
