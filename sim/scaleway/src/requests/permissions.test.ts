import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Action, isAllowed, type Resource } from './permissions.ts';

const actions: Action[] = ['list', 'read', 'create', 'update', 'delete'];
const resources: Resource[] = ['server', 'os', 'ssh_key'];

const allowed = (sets: readonly string[]): string =>
  resources
    .map((resource) => `${resource}: ${actions.filter((action) => isAllowed(sets, action, resource)).join(' ')}`)
    .join(', ');

test('a permission set allows its own product only, and writing only if it is a full one', () => {
  for (const [sets, expected] of [
    [[], 'server: , os: , ssh_key: '],
    [['IAMManager'], 'server: , os: , ssh_key: '],
    [['AppleSiliconReadOnly'], 'server: list read, os: list read, ssh_key: '],
    [['SSHKeysReadOnly'], 'server: , os: , ssh_key: list read'],
    [['SSHKeysFullAccess'], 'server: , os: , ssh_key: list read create update delete'],
    [
      ['AppleSiliconFullAccess', 'SSHKeysReadOnly'],
      'server: list read create update delete, os: list read create update delete, ssh_key: list read',
    ],
  ] as const) {
    assert.equal(allowed(sets), expected, sets.join());
  }
});
