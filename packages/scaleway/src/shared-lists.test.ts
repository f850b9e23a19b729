import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { inFlow } from './host-pool.ts';
import { type ScriptedScaleway, startScriptedScaleway } from './testing/scripted-scaleway.ts';
import { failureOf, secretKey, testPool, wireServers, zone } from './testing/test-pool.ts';

const minute = 60_000;
const otherKey = 'aaaaaaaa-7f60-4c39-9b1a-2f4e6d8c0a13';
const deniedReply = { status: 403, body: { type: 'permissions_denied', details: [] } };
const serversReply = { body: { servers: wireServers(3), total_count: 3 } };

describe('lists of one pool', () => {
  let scaleway: ScriptedScaleway;
  before(async () => {
    scaleway = await startScriptedScaleway();
  });
  after(() => scaleway.stop());

  test('are read once for all callers who accept an answer of that age', async () => {
    const pool = testPool(scaleway.url);
    scaleway.respondWith(serversReply);
    const fresh = pool.listServers(zone);
    const shared = ['inventory', 'permissions'].map((flow) =>
      inFlow(pool, flow).listServers(zone, { maxAgeMs: minute }),
    );
    for (const list of await Promise.all([fresh, ...shared])) assert.equal(list.length, 3);
    await pool.listServers(zone, { maxAgeMs: minute });
    assert.equal(scaleway.received.length, 1);
    await pool.listServers('fr-par-1', { maxAgeMs: minute });
    assert.equal(scaleway.received.length, 2, 'another zone');
    await pool.listServers(zone);
    assert.equal(scaleway.received.length, 3, 'a caller who accepts nothing older than its call');
  });

  test('a hundred refused servers that the list still has cost one list', async () => {
    const pool = testPool(scaleway.url);
    scaleway.respondWith(({ path }) => (path.endsWith('/servers') ? serversReply : deniedReply));
    const ids = Array.from({ length: 100 }, (_, at) => `server-${at % 3}`);
    for (const error of await Promise.all(ids.map((id) => failureOf(pool.rename(zone, id, 'new')))))
      assert.equal(error.kind, 'denied');
    assert.equal(scaleway.received.filter(({ path }) => path.endsWith('/servers')).length, 1);
  });

  test('a refused server is gone only if a list that began after the refusal does not have it', async () => {
    const pool = testPool(scaleway.url);
    let listed: unknown = { body: { servers: [], total_count: 0 } };
    scaleway.respondWith(({ path }) => (path.endsWith('/servers') ? (listed as object) : deniedReply));
    await pool.listServers(zone);
    listed = serversReply;
    assert.equal((await failureOf(pool.getServer(zone, 'server-1'))).kind, 'denied');
    assert.equal((await failureOf(pool.getServer(zone, 'server-9'))).kind, 'not found');
  });

  test('a replaced key is used by the next request, and by lists that were read before', async () => {
    let key = secretKey;
    const pool = testPool(scaleway.url, { secretKey: () => key });
    scaleway.respondWith(({ path }) => (path.endsWith('/os') ? { body: { os: [], total_count: 0 } } : serversReply));
    const readLists = async (): Promise<void> => {
      await pool.listServers(zone, { maxAgeMs: minute });
      await pool.listImages(zone, 'M2-L', { maxAgeMs: minute });
    };
    await readLists();
    key = otherKey;
    await pool.listServers('fr-par-1');
    await readLists();
    assert.deepEqual(
      scaleway.received.map(({ headers }) => headers['x-auth-token']),
      [secretKey, secretKey, otherKey, otherKey, otherKey],
    );
    scaleway.respondWith({ status: 400, body: { message: `bad ${otherKey} and ${secretKey}` } });
    const { message } = await failureOf(pool.reboot(zone, 'server-1'));
    assert.ok(!message.includes(otherKey) && !message.includes(secretKey), message);
  });
});
