import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { type ScalewayOptions, type SimulatedScaleway, startScaleway } from '@tartan/sim-scaleway';
import { checkPermissions } from './host-pool.ts';
import { newestImage } from './images.ts';
import { eagerClock, failureOf, projectID, secretKey, testPool, zone } from './testing/test-pool.ts';

describe('the pool at a simulated Scaleway', () => {
  let scaleway: SimulatedScaleway | undefined;
  afterEach(async () => {
    await scaleway?.stop();
    scaleway = undefined;
  });
  const start = async (options: ScalewayOptions = {}): Promise<SimulatedScaleway> => {
    scaleway = await startScaleway({ clock: manualClock(), pace: 1, projectID, secretKey, ...options });
    return scaleway;
  };

  test('a Mac is found, named, wiped with the newest image of its family, and rebooted', async () => {
    const clock = manualClock();
    const sim = await start({ clock });
    const { id } = await sim.order({ zone, name: 'tuist-pool-1' });
    const pool = testPool(sim.url);
    assert.deepEqual(
      (await pool.listServers(zone)).map((server) => `${server.name} ${server.status} ${server.delivered}`),
      ['tuist-pool-1 ready true'],
    );
    assert.equal((await pool.rename(zone, id, 'claimed')).name, 'claimed');
    const image = newestImage(await pool.listImages(zone, 'M2-L'), 'tahoe');
    assert.equal(image?.name, 'macos-tahoe-26.5');
    await pool.reinstall(zone, id, image?.id);
    const again = await failureOf(pool.reinstall(zone, id, image?.id));
    assert.deepEqual([again.kind, again.state], ['transient state', 'reinstalling']);
    clock.advance(15 * 60_000);
    const wiped = await pool.getServer(zone, id);
    assert.deepEqual([wiped.status, wiped.os?.id, wiped.name], ['ready', image?.id, 'claimed']);
    await pool.reboot(zone, id);
    const refused = await failureOf(pool.reinstall(zone, id, undefined));
    assert.deepEqual([refused.kind, refused.state], ['transient state', 'rebooting']);
    assert.equal(sim.servers()[0]?.installs, 1);
  });

  test('SSH keys are added and deleted', async () => {
    const sim = await start();
    const pool = testPool(sim.url);
    const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f fleet';
    const { id } = await pool.createKey('fleet', publicKey);
    assert.deepEqual(await pool.listKeys(), [{ id, name: 'fleet', publicKey }]);
    await pool.deleteKey(id);
    await pool.deleteKey(id);
    assert.deepEqual(await pool.listKeys(), []);
    sim.faults.calls.push({ match: /POST .*ssh-keys/, times: 1, with: 'lost' });
    assert.equal((await failureOf(pool.createKey('fleet', publicKey))).kind, 'no answer');
    assert.equal(sim.keys().length, 1);
  });

  test('a pool larger than a page is read completely', async () => {
    const sim = await start();
    await Promise.all(Array.from({ length: 230 }, (_, at) => sim.order({ zone, name: `tuist-pool-${at}` })));
    const names = (await testPool(sim.url).listServers(zone)).map(({ name }) => name);
    assert.equal(new Set(names).size, 230);
    assert.equal(sim.requests.length, 3);
  });

  test('after a lost response a rename is retried, a wipe is not', async () => {
    const sim = await start();
    const { id } = await sim.order({ zone, name: 'tuist-pool-1' });
    const pool = testPool(sim.url);
    sim.faults.calls.push({ match: /PATCH/, times: 1, with: 'lost' });
    assert.equal((await pool.rename(zone, id, 'claimed')).name, 'claimed');
    sim.faults.calls.push({ match: /reinstall$/, times: 1, with: 'lost' });
    assert.equal((await failureOf(pool.reinstall(zone, id, undefined))).kind, 'no answer');
    assert.equal((await pool.getServer(zone, id)).status, 'reinstalling');
    assert.deepEqual(
      ['PATCH', 'POST'].map((method) => sim.requests.filter((request) => request.startsWith(method)).length),
      [2, 1],
    );
  });

  test('two 503 and a 429 are retried', async () => {
    const clock = eagerClock();
    const sim = await start({ clock, rateLimit: 2 });
    const { id } = await sim.order({ zone, name: 'tuist-pool-1' });
    const pool = testPool(sim.url, { clock, maxAttempts: 10 });
    sim.faults.calls.push({ match: /GET/, times: 2, with: { status: 503, body: '<html>' } });
    assert.equal((await pool.getServer(zone, id)).id, id);
    await Promise.all(Array.from({ length: 6 }, () => pool.getServer(zone, id)));
    assert(pool.reports.some(({ outcome }) => outcome === 'rate limited'));
    assert.equal(pool.reports.filter(({ outcome }) => outcome === 'ok').length, 7);
  });

  test('the password is read from every field that holds it', async () => {
    const sim = await start();
    const { id } = await sim.order({ zone, name: 'tuist-pool-1' });
    const pool = testPool(sim.url);
    const readPassword = async () => (await pool.getServer(zone, id)).password?.reveal();
    const password = await readPassword();
    assert(password !== undefined && password !== '');
    sim.faults.password = 'in vnc_url';
    assert.equal(await readPassword(), password);
    for (const mood of ['empty', 'sealed'] as const) {
      sim.faults.password = mood;
      assert.equal(await readPassword(), undefined, mood);
    }
  });

  test('a denied call names the missing permission set', async () => {
    const sim = await start({ permissions: ['SSHKeysFullAccess'] });
    const missing = await checkPermissions(testPool(sim.url), [zone]);
    assert.deepEqual(
      missing.map(({ kind }) => kind),
      ['denied'],
    );
    assert.match(missing[0]?.message ?? '', /AppleSiliconFullAccess/);
    const stranger = testPool(sim.url, { secretKey: randomUUID() });
    assert.equal((await failureOf(stranger.listServers(zone))).kind, 'unauthorized');
  });

  test('a deleted server is not found, also when Scaleway answers with permission denied', async () => {
    const sim = await start();
    const { id } = await sim.order({ zone, name: 'tuist-pool-1' });
    const pool = testPool(sim.url);
    for (const mood of ['not found', 'denied'] as const) {
      sim.faults.goneServer = mood;
      assert.equal((await failureOf(pool.getServer(zone, randomUUID()))).kind, 'not found', mood);
    }
    // Denied but listed: a permission is missing. Denied and the list cannot be read: unknown, so it stays denied.
    const denied = { status: 403, body: { type: 'permissions_denied', details: [] } };
    sim.faults.calls.push({ match: /PATCH/, times: 1, with: denied });
    assert.equal((await failureOf(pool.rename(zone, id, 'x'))).kind, 'denied');
    sim.faults.calls.push({ match: /servers$/, times: 9, with: { status: 503 } });
    assert.equal((await failureOf(pool.getServer(zone, randomUUID()))).kind, 'denied');
  });

  test('an API key of the whole organization sees only our project', async () => {
    const sim = await start({ scope: 'organization' });
    await sim.order({ zone, name: 'ours' });
    await sim.order({ zone, name: 'theirs', projectID: randomUUID() });
    const servers = await testPool(sim.url).listServers(zone);
    assert.deepEqual(
      servers.map(({ name }) => name),
      ['ours'],
    );
  });
});
