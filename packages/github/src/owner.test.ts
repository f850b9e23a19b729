import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownerName, ownerOf, pathParametersOf } from './owner.ts';

test('runners belong to an organisation or to a repository', () => {
  assert.deepEqual(ownerOf({ organization: 'acme' }), { kind: 'organization', organization: 'acme' });
  assert.deepEqual(ownerOf({ repository: 'acme/app.swift' }), { kind: 'repository', repository: 'acme/app.swift' });
  assert.deepEqual(ownerOf({ repository: 'acme/.github' }), { kind: 'repository', repository: 'acme/.github' });
});

test('an owner has a name and path parameters', () => {
  const organization = { kind: 'organization', organization: 'acme' } as const;
  assert.equal(ownerName(organization), 'acme');
  assert.deepEqual(pathParametersOf(organization), { org: 'acme' });
  const repository = { kind: 'repository', repository: 'acme/app' } as const;
  assert.equal(ownerName(repository), 'acme/app');
  assert.deepEqual(pathParametersOf(repository), { owner: 'acme', repo: 'app' });
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
  test(`${JSON.stringify(github)} names no owner`, () => {
    const owner = ownerOf(github);
    assert.ok('problem' in owner);
    assert.match(owner.problem, expected);
  });
}
