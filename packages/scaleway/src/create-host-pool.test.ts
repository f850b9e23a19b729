import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createHostPool } from './create-host-pool.ts';
import type { HostPool } from './host-pool.ts';
import { type ScriptedScaleway, startScriptedScaleway } from './testing/scripted-scaleway.ts';
import {
  accessKey,
  failureOf,
  projectID,
  secretKey,
  serverID,
  testPool,
  wireServer,
  wireServers,
  zone,
} from './testing/test-pool.ts';

const servers = `/apple-silicon/v1alpha1/zones/${zone}/servers`;
const key = { id: 'key-1', name: 'fleet', public_key: 'ssh-ed25519 AAAA fleet', project_id: projectID };

describe('requests to Scaleway, and the conversion of responses', () => {
  let scaleway: ScriptedScaleway;
  before(async () => {
    scaleway = await startScriptedScaleway();
  });
  after(() => scaleway.stop());

  test('each call is one request with the secret key and its parameters', async () => {
    const pool = testPool(scaleway.url);
    const page = `page=1&page_size=100`;
    const project = `project_id=${projectID}`;
    const table: [call: () => Promise<unknown>, answer: unknown, request: string, query: string, body: unknown][] = [
      [
        () => pool.listServers(zone),
        { servers: [wireServer()], total_count: 1 },
        `GET ${servers}`,
        `order_by=created_at_asc&${page}&${project}`,
        '',
      ],
      [() => pool.getServer(zone, serverID), wireServer(), `GET ${servers}/${serverID}`, '', ''],
      [() => pool.rename(zone, serverID, 'new'), wireServer(), `PATCH ${servers}/${serverID}`, '', { name: 'new' }],
      [
        () => pool.reinstall(zone, serverID, 'os-2'),
        wireServer(),
        `POST ${servers}/${serverID}/reinstall`,
        '',
        { os_id: 'os-2' },
      ],
      [() => pool.reinstall(zone, serverID, undefined), wireServer(), `POST ${servers}/${serverID}/reinstall`, '', {}],
      [() => pool.reboot(zone, serverID), wireServer(), `POST ${servers}/${serverID}/reboot`, '', {}],
      [
        () => pool.listImages(zone, 'M2-L'),
        { os: [], total_count: 0 },
        `GET /apple-silicon/v1alpha1/zones/${zone}/os`,
        `${page}&server_type=M2-L`,
        '',
      ],
      [
        () => pool.listKeys(),
        { ssh_keys: [key], total_count: 1 },
        'GET /iam/v1alpha1/ssh-keys',
        `order_by=created_at_asc&${page}&${project}`,
        '',
      ],
      [
        () => pool.createKey('fleet', 'ssh-ed25519 AAAA fleet'),
        key,
        'POST /iam/v1alpha1/ssh-keys',
        '',
        { name: 'fleet', project_id: projectID, public_key: 'ssh-ed25519 AAAA fleet' },
      ],
      [() => pool.deleteKey('key-1'), undefined, 'DELETE /iam/v1alpha1/ssh-keys/key-1', '', ''],
    ];
    for (const [call, answer, request, query, body] of table) {
      scaleway.respondWith({ body: answer, status: answer === undefined ? 204 : 200 });
      await call();
      const [got, ...more] = scaleway.received;
      assert(got !== undefined && more.length === 0, request);
      assert.equal(`${got.method} ${got.path}`, request);
      assert.equal(got.query.toString(), query, request);
      assert.deepEqual(got.body === '' ? '' : JSON.parse(got.body), body, request);
      const { accept, 'user-agent': agent, 'content-type': type, 'x-auth-token': token } = got.headers;
      assert.deepEqual({ accept, agent, token }, { accept: 'application/json', agent: 'tartan', token: secretKey });
      assert.equal(type, body === '' ? undefined : 'application/json; charset=utf-8', request);
    }
  });

  test('a server is converted: unknown states are kept, the password is a Secret', async () => {
    const pool = testPool(scaleway.url);
    scaleway.respondWith({
      body: wireServer({ status: 'defragmenting', a_field_of_next_year: { deep: 1 }, commitment: 'odd' }),
    });
    const { password, ...server } = await pool.getServer(zone, serverID);
    assert.equal(password?.reveal(), 'sudo-s3cret');
    assert.deepEqual(server, {
      id: serverID,
      zone,
      name: 'tuist-pool-1',
      type: 'M2-L',
      status: 'defragmenting',
      delivered: true,
      os: { id: 'os-1', name: 'macos-tahoe-26.3', family: 'Tahoe' },
      ip: '198.18.0.1',
      sshUsername: 'm1',
      createdAt: '2026-01-01T00:00:00.000Z',
    });
  });

  test('a server in delivery has empty fields', async () => {
    const pool = testPool(scaleway.url);
    scaleway.respondWith({ body: { id: serverID, name: 'x', type: 'M2-L', status: 'starting', os: null, ip: null } });
    assert.deepEqual(await pool.getServer(zone, serverID), {
      id: serverID,
      zone,
      name: 'x',
      type: 'M2-L',
      status: 'starting',
      delivered: false,
      os: undefined,
      ip: '',
      sshUsername: '',
      password: undefined,
      createdAt: '',
    });
  });

  test('all pages are read, and the content type may have parameters', async () => {
    const pool = testPool(scaleway.url);
    const all = wireServers(250);
    scaleway.respondWith(({ query }) => {
      const from = (Number(query.get('page')) - 1) * 100;
      const headers = { 'Content-Type': 'application/json; charset=utf-8' };
      return { body: { servers: all.slice(from, from + 100), total_count: 250 }, headers };
    });
    const read = await pool.listServers(zone);
    assert.deepEqual(
      read.map(({ id }) => id),
      all.map(({ id }) => id),
    );
    assert.equal(scaleway.received.length, 3);
  });

  test('servers and keys of other projects, and disabled keys, are ignored', async () => {
    const pool = testPool(scaleway.url);
    const other = { project_id: '00000000-0000-4000-8000-000000000000' };
    scaleway.respondWith({ body: { servers: [wireServer(), wireServer({ id: 'other', ...other })], total_count: 2 } });
    assert.deepEqual(
      (await pool.listServers(zone)).map(({ id }) => id),
      [serverID],
    );
    const keys = [key, { ...key, id: 'key-2', disabled: true }, { ...key, id: 'key-3', ...other }];
    scaleway.respondWith({ body: { ssh_keys: keys, total_count: 3 } });
    assert.deepEqual(await pool.listKeys(), [{ id: 'key-1', name: 'fleet', publicKey: 'ssh-ed25519 AAAA fleet' }]);
  });

  test('deleting a missing key succeeds', async () => {
    scaleway.respondWith({ status: 404, body: { type: 'not_found', resource: 'ssh_key', resource_id: 'key-1' } });
    await testPool(scaleway.url).deleteKey('key-1');
    scaleway.respondWith({ status: 403, body: {} });
    assert.match((await failureOf(testPool(scaleway.url).deleteKey('key-1'))).message, /SSHKeysFullAccess/);
  });

  test('an invalid response is garbled, and the error names the field without its value', async () => {
    const pool = testPool(scaleway.url);
    const table: [what: string, call: (pool: HostPool) => Promise<unknown>, body: unknown, text: RegExp][] = [
      ['no list', (pool) => pool.listServers(zone), { total_count: 0 }, /field servers is not an array/],
      [
        'not a list',
        (pool) => pool.listServers(zone),
        { servers: {}, total_count: 0 },
        /field servers is not an array/,
      ],
      [
        'a bad field deep in a list',
        (pool) => pool.listServers(zone),
        { servers: [wireServer(), wireServer({ id: 'b', sudo_password: { is: 'sudo-s3cret' } })], total_count: 2 },
        /field servers\[1\]\.sudo_password is not a string/,
      ],
      ['no id', (pool) => pool.getServer(zone, serverID), wireServer({ id: '' }), /field id has a value/],
      [
        'no time',
        (pool) => pool.getServer(zone, serverID),
        wireServer({ created_at: 's3cret' }),
        /field created_at has/,
      ],
      ['another server', (pool) => pool.getServer(zone, serverID), wireServer({ id: 'b' }), /about another server/],
      ['not JSON', (pool) => pool.reboot(zone, serverID), '<html>s3cret', /is not JSON/],
      ['nothing', (pool) => pool.reinstall(zone, serverID, undefined), undefined, /the whole is not an object/],
      ['no key', (pool) => pool.createKey('a', 'b'), { id: 'x' }, /field public_key is not a string/],
      ['a page', (pool) => pool.deleteKey('x'), '<html>', /is not JSON/],
    ];
    for (const [what, call, body, text] of table) {
      scaleway.respondWith({ body });
      const error = await failureOf(call(pool));
      assert.equal(error.kind, 'garbled', what);
      assert.match(error.message, text);
      assert.doesNotMatch(error.message, /s3cret/);
      assert.equal(scaleway.received.length, 1, what);
    }
  });

  test('IDs and zones with path characters are rejected before sending', async () => {
    const pool = testPool(scaleway.url);
    scaleway.respondWith({ body: wireServer() });
    const calls = [
      () => pool.reinstall(zone, `${serverID}/../other`, undefined),
      () => pool.getServer(zone, ''),
      () => pool.getServer('fr-par-3/servers?', serverID),
      () => pool.listServers('..'),
      () => pool.listImages('', 'M2-L'),
      () => pool.deleteKey('a/b'),
      () => pool.createKey('', 'ssh-ed25519 AAAA'),
    ];
    for (const call of calls) assert.equal((await failureOf(call())).kind, 'invalid');
    assert.equal(scaleway.received.length, 0);
  });
});

test('invalid settings are rejected at once, without their values', () => {
  const right = { accessKey, secretKey, projectID };
  createHostPool(right);
  createHostPool({ ...right, apiURL: 'http://127.0.0.1:1/' });
  const wrong = [
    { ...right, secretKey: 's3cret' },
    { ...right, accessKey: 's3cret' },
    { ...right, projectID: 's3cret' },
    { ...right, projectID: '' },
    { ...right, apiURL: 's3cret' },
    { ...right, apiURL: 'file:///s3cret' },
  ];
  for (const settings of wrong) {
    assert.throws(
      () => createHostPool(settings),
      (error: Error) => {
        assert.match(error.message, /settings for Scaleway are wrong/);
        assert.doesNotMatch(error.message, /s3cret/);
        return true;
      },
    );
  }
});
