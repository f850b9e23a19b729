import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { HostPool } from '../host-pool.ts';
import type { OperationName } from '../operations.ts';
import { type ScriptedReply, type ScriptedScaleway, startScriptedScaleway } from '../testing/scripted-scaleway.ts';
import { failureOf, projectID, serverID, testPool, wireServer, zone } from '../testing/test-pool.ts';
import { maxResponseBytes, type WaitReport } from './transport.ts';

const key = { id: 'key-1', name: 'fleet', public_key: 'ssh-ed25519 AAAA', project_id: projectID };
const calls: [operation: OperationName, call: (pool: HostPool) => Promise<unknown>, answer: unknown][] = [
  ['listServers', (pool) => pool.listServers(zone), { servers: [], total_count: 0 }],
  ['getServer', (pool) => pool.getServer(zone, serverID), wireServer()],
  ['rename', (pool) => pool.rename(zone, serverID, 'x'), wireServer()],
  ['listImages', (pool) => pool.listImages(zone, 'M2-L'), { os: [], total_count: 0 }],
  ['listKeys', (pool) => pool.listKeys(), { ssh_keys: [], total_count: 0 }],
  ['deleteKey', (pool) => pool.deleteKey('key-1'), {}],
  ['reinstall', (pool) => pool.reinstall(zone, serverID, undefined), wireServer()],
  ['reboot', (pool) => pool.reboot(zone, serverID), wireServer()],
  ['createKey', (pool) => pool.createKey('fleet', 'ssh-ed25519 AAAA'), key],
];
const repeatable = calls.slice(0, 6);
const onceOnly = calls.slice(6);
const tooMany = (reset: Record<string, unknown>): ScriptedReply => ({
  status: 429,
  body: { type: 'too_many_requests', help_message: 'slow down', ...reset },
});

describe('requests to a failing Scaleway', () => {
  let scaleway: ScriptedScaleway;
  before(async () => {
    scaleway = await startScriptedScaleway();
  });
  after(() => scaleway.stop());

  test('a repeatable operation is retried until it succeeds', async () => {
    for (const [operation, call, answer] of repeatable) {
      for (const mood of [{ status: 503 }, { status: 500, body: '<html>oops' }, 'cut', 'half'] as ScriptedReply[]) {
        const pool = testPool(scaleway.url);
        scaleway.respondWith(mood, mood, { body: answer });
        await call(pool);
        assert.equal(scaleway.received.length, 3, operation);
        assert.deepEqual(pool.clock.waits, [375, 750]);
        const failed = typeof mood === 'string' ? 'no answer' : 'unavailable';
        assert.deepEqual(
          pool.reports.map(({ outcome }) => `${operation} ${outcome}`),
          [`${operation} ${failed}`, `${operation} ${failed}`, `${operation} ok`],
        );
      }
    }
  });

  test('an operation that is not repeatable is sent once, whatever fails', async () => {
    for (const [operation, call] of onceOnly) {
      for (const [mood, kind] of [
        ['cut', 'no answer'],
        ['half', 'no answer'],
        [{ status: 503 }, 'unavailable'],
        [tooMany({ reset_seconds: 1 }), 'rate limited'],
      ] as const) {
        const pool = testPool(scaleway.url);
        scaleway.respondWith(mood, { body: wireServer() });
        const error = await failureOf(call(pool));
        assert.equal(error.kind, kind, operation);
        assert.equal(scaleway.received.length, 1, operation);
      }
    }
  });

  test('the last error is thrown after all attempts', async () => {
    const pool = testPool(scaleway.url, { maxAttempts: 3 });
    scaleway.respondWith({ status: 503, body: { message: 'down for maintenance' } });
    const error = await failureOf(pool.getServer(zone, serverID));
    assert.deepEqual([error.kind, error.status], ['unavailable', 503]);
    assert.match(error.message, /down for maintenance/);
    assert.equal(scaleway.received.length, 3);
  });

  test('a rejected request is not retried', async () => {
    for (const status of [400, 401, 403, 404, 409, 410, 412, 418]) {
      scaleway.respondWith({ status, body: {} }, { body: wireServer() });
      await failureOf(testPool(scaleway.url).getServer(zone, serverID));
      // The list shows whether it is gone or denied.
      const asked = scaleway.received.filter(({ path }) => path.endsWith(serverID));
      assert.equal(asked.length, 1, `${status}`);
    }
  });

  test('a 429 is waited out to its reset time', async () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    const table: [script: ScriptedReply, waited: number][] = [
      [tooMany({ reset_seconds: 7 }), 7250],
      [tooMany({ reset_at: new Date(now + 9000).toISOString() }), 9250],
      [{ status: 429, headers: { 'Retry-After': '3' } }, 3250],
    ];
    for (const [script, waited] of table) {
      const pool = testPool(scaleway.url);
      scaleway.respondWith(script, { body: wireServer() });
      await pool.getServer(zone, serverID);
      assert.deepEqual(pool.clock.waits, [waited]);
      assert.equal(scaleway.received.length, 2);
    }
  });

  test('a reset beyond maxWaitMs rejects, and blocks further requests', async () => {
    const pool = testPool(scaleway.url);
    scaleway.respondWith(tooMany({ reset_seconds: 45 }), { body: wireServer() });
    const error = await failureOf(pool.getServer(zone, serverID));
    assert.deepEqual([error.kind, error.retryAfter, error.status], ['rate limited', 45_000, 429]);
    const next = await failureOf(pool.reinstall(zone, serverID, undefined));
    assert.deepEqual([next.kind, next.retryAfter], ['rate limited', 45_000]);
    assert.equal(scaleway.received.length, 1);
  });

  test('a 429 of one call pauses all calls', async () => {
    const pool = testPool(scaleway.url);
    scaleway.respondWith(tooMany({ reset_seconds: 5 }), { body: wireServer() });
    await failureOf(pool.reboot(zone, serverID));
    await pool.reboot(zone, serverID);
    assert.deepEqual(pool.clock.waits, [5000]);
  });

  test('requests keep below the rate', async () => {
    const pool = testPool(scaleway.url, { rate: 2 });
    scaleway.respondWith({ body: wireServer() });
    await Promise.all(Array.from({ length: 5 }, () => pool.getServer(zone, serverID)));
    assert.equal(pool.clock.monotonic(), 1500);
  });

  test('each wait for the rate limit or a pause is reported, and whether the request was sent then', async () => {
    const waits: WaitReport[] = [];
    const pool = testPool(scaleway.url, { onWait: (report) => waits.push(report) });
    scaleway.respondWith(tooMany({ reset_seconds: 5 }), tooMany({ reset_seconds: 45 }));
    await failureOf(pool.reboot(zone, serverID));
    await failureOf(pool.reboot(zone, serverID));
    await failureOf(pool.reboot(zone, serverID));
    assert.deepEqual(waits, [
      { operation: 'reboot', milliseconds: 0, isSent: true },
      { operation: 'reboot', milliseconds: 5000, isSent: true },
      { operation: 'reboot', milliseconds: 0, isSent: false },
    ]);
  });

  test('a request without a response fails at its deadline', async () => {
    const pool = testPool(scaleway.url);
    scaleway.respondWith('hang', { body: wireServer() });
    const slow = pool.getServer(zone, serverID);
    await scaleway.arrived(1);
    pool.clock.expire();
    assert.equal((await slow).id, serverID);
    scaleway.respondWith('hang', { body: wireServer() });
    const lost = failureOf(pool.reinstall(zone, serverID, undefined));
    await scaleway.arrived(1);
    pool.clock.expire();
    const error = await lost;
    assert.equal(error.kind, 'no answer');
    assert.match(error.message, /nothing came within 12\.345 s\. Whether it was done is unknown/);
    assert.equal(scaleway.received.length, 1);
  });

  test("a refused connection is 'no answer' with its code", async () => {
    const gone = await startScriptedScaleway();
    await gone.stop();
    const error = await failureOf(testPool(gone.url).getServer(zone, serverID));
    assert.equal(error.kind, 'no answer');
    assert.match(error.message, /ECONNREFUSED/);
  });

  test('an aborted call rejects with the reason of its signal, at any point', async () => {
    const reason = new Error('we are stopping');
    const given = new AbortController();
    given.abort(reason);
    const pool = testPool(scaleway.url);
    scaleway.respondWith('hang');
    for (const [, call] of calls) {
      const aborting = new AbortController();
      const options = { signal: aborting.signal };
      const withSignal = { ...pool, ...signalled(pool, options) };
      scaleway.respondWith('hang');
      const ended = assert.rejects(call(withSignal), (error) => error === reason);
      await scaleway.arrived(1);
      aborting.abort(reason);
      await ended;
    }
    assert(pool.reports.every(({ outcome }) => outcome === 'aborted'));
    scaleway.respondWith({ body: wireServer() });
    await assert.rejects(pool.getServer(zone, serverID, { signal: given.signal }), (error) => error === reason);
    assert.equal(scaleway.received.length, 0);
  });

  test('an abort ends the wait for a retry', async () => {
    const reason = new Error('we are stopping');
    const aborting = new AbortController();
    const standing = { now: () => 0, monotonic: () => 0, after: () => () => {} };
    let sent = 0;
    const onCall = (): void => {
      sent += 1;
      setImmediate(() => aborting.abort(reason));
    };
    const pool = testPool(scaleway.url, { clock: standing, onCall });
    scaleway.respondWith({ status: 503 });
    await assert.rejects(pool.getServer(zone, serverID, { signal: aborting.signal }), (error) => error === reason);
    assert.deepEqual([scaleway.received.length, sent], [1, 1]);
  });

  test('a redirect is not followed: it would forward the secret key', async () => {
    const elsewhere = await startScriptedScaleway();
    try {
      elsewhere.respondWith({ body: wireServer() });
      for (const status of [301, 302, 307, 308]) {
        scaleway.respondWith({ status, body: wireServer(), headers: { Location: `${elsewhere.url}/steal` } });
        assert.equal((await failureOf(testPool(scaleway.url).getServer(zone, serverID))).kind, 'garbled');
      }
      assert.equal(elsewhere.received.length, 0);
    } finally {
      await elsewhere.stop();
    }
  });

  test('an endless response is cut at the size limit', async () => {
    const huge = `{"x":"${'y'.repeat(maxResponseBytes)}"}`;
    scaleway.respondWith({ body: huge });
    const error = await failureOf(testPool(scaleway.url).getServer(zone, serverID));
    assert.equal(error.kind, 'garbled');
    assert.match(error.message, /too long/);
    scaleway.respondWith({ status: 403, body: huge });
    assert.equal((await failureOf(testPool(scaleway.url).getServer(zone, serverID))).kind, 'denied');
  });
});

/** The pool with a signal in every call. */
const signalled = (pool: HostPool, options: { signal: AbortSignal }): HostPool => ({
  listServers: (zone) => pool.listServers(zone, options),
  getServer: (zone, id) => pool.getServer(zone, id, options),
  rename: (zone, id, name) => pool.rename(zone, id, name, options),
  reinstall: (zone, id, osID) => pool.reinstall(zone, id, osID, options),
  reboot: (zone, id) => pool.reboot(zone, id, options),
  listImages: (zone, type) => pool.listImages(zone, type, options),
  listKeys: () => pool.listKeys(options),
  createKey: (name, publicKey) => pool.createKey(name, publicKey, options),
  deleteKey: (id) => pool.deleteKey(id, options),
});
