import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { definitions } from '@tartan/api/crds';
import { unpackPreviousRelease } from '@tartan/tools-kubernetes';
import { parse } from 'yaml';
import { breakingChanges, type Definition } from './breaking-changes.ts';

describe('the definitions of our kinds, compared with those of the previous release', () => {
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-definitions-'));
    await unpackPreviousRelease(folder, ['charts/tartan/crds']);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('accept every object of the previous ones: no new required field, no removed field', () => {
    const crds = join(folder, 'charts/tartan/crds');
    const old = readdirSync(crds).map((name): Definition & { metadata: { name: string } } =>
      parse(readFileSync(join(crds, name), 'utf8')),
    );
    assert.ok(old.length > 0);
    const found = old.flatMap((each) => {
      const now = definitions.find(({ metadata }) => metadata?.name === each.metadata.name);
      return now === undefined ? [`${each.metadata.name}: this definition is gone`] : breakingChanges(each, now);
    });
    assert.deepEqual(found, []);
  });
});
