import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { standardImages } from '../servers/images.ts';
import type { ServerRecord } from '../servers/server-record.ts';
import { projectID, secretKey } from '../testing/requests.ts';
import type { Snapshot } from './handler.ts';
import { type Action, handleRequest, isAllowed, type Resource } from './router.ts';

const actions: Action[] = ['list', 'read', 'create', 'update', 'delete'];
const resources: Resource[] = ['server', 'os', 'ssh_key'];

const allowed = (sets: readonly string[]): string =>
  resources
    .map((resource) => `${resource}: ${actions.filter((action) => isAllowed(sets, action, resource)).join(' ')}`)
    .join(', ');

test('a permission set allows only its own product, and writes only with full access', () => {
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

const [os] = standardImages();
assert(os);
const server: ServerRecord = {
  id: '77777777-7777-4777-8777-777777777777',
  zone: 'fr-par-1',
  projectID,
  name: 'pool-1',
  type: 'M2-L',
  status: 'ready',
  os,
  installs: 0,
  mac: undefined,
  ip: '198.18.0.0',
  createdAt: 0,
  updatedAt: 0,
  delivered: true,
  password: 'secret',
};
const snapshot: Snapshot = {
  now: 0,
  pace: 1,
  organizationID: projectID,
  projectID,
  secretKey,
  permissions: ['AppleSiliconFullAccess', 'SSHKeysFullAccess'],
  servers: new Map([[server.id, server]]),
  images: standardImages(),
  keys: new Map(),
  faults: { renameWhileReinstalling: 'accepted', password: 'shortly after the order', goneServer: 'not found' },
  newID: () => server.id,
};
const zonesPath = '/apple-silicon/v1alpha1/zones';

test('every request has a response, handling is pure, and only successful requests return a change', () => {
  const before = JSON.stringify([...snapshot.servers]);
  const parts = fc.constantFrom('servers', server.id, 'os', 'reboot', 'reinstall', 'x', '%', '');
  const path = fc
    .array(parts, { maxLength: 4 })
    .chain((tail) =>
      fc
        .constantFrom(`${zonesPath}/fr-par-1/`, `${zonesPath}/x/`, '/iam/v1alpha1/ssh-keys/', '/')
        .map((head) => head + tail.join('/')),
    );
  fc.assert(
    fc.property(
      fc.constantFrom('GET', 'POST', 'PATCH', 'DELETE', 'PUT'),
      path,
      fc.oneof(fc.string(), fc.constantFrom('page=1', 'page=-1', 'page_size=1e3', `project_id=${projectID}`)),
      fc.oneof(fc.string(), fc.json(), fc.constantFrom('{"name":"x"}', '{"os_id":null}')),
      fc.constantFrom(secretKey, undefined, 'x'),
      (method, at, query, body, token) => {
        const { answer, change } = handleRequest(snapshot, {
          method,
          path: at,
          query: new URLSearchParams(query),
          token,
          body,
        });
        assert(answer.status >= 200 && answer.status < 500);
        assert.equal(change !== undefined, answer.status < 300 && method !== 'GET');
        if (token !== secretKey) assert.equal(answer.status, 401);
      },
    ),
    { numRuns: 500 },
  );
  assert.equal(JSON.stringify([...snapshot.servers]), before);
});
