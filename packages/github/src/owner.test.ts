import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownerOf } from './owner.ts';

test('runners belong to an organisation or to a repository', () => {
  assert.deepEqual(ownerOf({ organization: 'acme' }), { kind: 'organization', organization: 'acme' });
  assert.deepEqual(ownerOf({ repository: 'acme/app.swift' }), { kind: 'repository', repository: 'acme/app.swift' });
  assert.deepEqual(ownerOf({ repository: 'acme/.github' }), { kind: 'repository', repository: 'acme/.github' });
});

for (const [github, expected] of [
  [{}, /exactly one/],
  [{ organization: 'acme', repository: 'acme/app' }, /exactly one/],
  [{ organization: 'acme/app' }, /is no organization/],
  [{ organization: '' }, /is no organization/],
  [{ organization: '..' }, /is no organization/],
  [{ organization: '.' }, /is no organization/],
  [{ repository: '../app' }, /owner\/name/],
  [{ repository: 'acme/..' }, /owner\/name/],
  [{ repository: 'acme/.' }, /owner\/name/],
  [{ repository: 'app' }, /owner\/name/],
  [{ repository: 'acme/app/..' }, /owner\/name/],
  [{ repository: 'acme/app?x=1' }, /owner\/name/],
] as const) {
  test(`whose runners ${JSON.stringify(github)} are cannot be told`, () => {
    const owner = ownerOf(github);
    assert.ok('problem' in owner);
    assert.match(owner.problem, expected);
  });
}
