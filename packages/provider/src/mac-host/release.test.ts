import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { macHost } from '@tartan/api';
import { getCondition, nodes } from '@tartan/kube';
import { createHarness } from './testing/harness.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

/** A Mac that a machine holds. */
const setUp = async (t: TestContext) => {
  const harness = await createHarness(t);
  const server = await harness.order('tuist-pool-1');
  const { id } = server;
  const running = await harness.start();
  await harness.take(id, await harness.machine('mac-1', id));
  await harness.pass(1000);
  harness.calls();
  harness.eventReasons.length = 0;
  const status = async () => (await harness.host(id)).status ?? {};
  return {
    ...harness,
    server,
    id,
    running,
    status,
    state: async () => (await status()).state,
    message: async (type: string) => getCondition((await status()).conditions, type)?.message ?? '',
    wipes: () => harness.scaleway.requests.filter((request) => request.endsWith('/reinstall')).length,
    /** A refusal in Scaleway's words. */
    busy: (state: string) => ({
      status: 409,
      body: { type: 'transient_state', resource: 'server', resource_id: id, current_state: state },
    }),
  };
};

describe('a release', () => {
  it('goes from the releasing name over a confirmed wipe to the pool name', async (t) => {
    const { id, server, release, settle, pass, reason, status, state, host, eventReasons, scaleway } = await setUp(t);
    await release(id, { hostKey: 'SHA256:old' });
    await settle();
    assert.match(server.name, /^tuist-releasing-tuist-pool-[0-9a-f]{8}$/);
    assert.equal(server.status, 'reinstalling');
    assert.equal(await state(), 'releasing');
    assert.equal(await reason(id, 'Wiped'), 'Reinstalling');
    const promised = server.name.slice('tuist-releasing-'.length);
    const { wipe } = await status();
    assert.ok(wipe?.requestedAt && wipe.reinstallingAt && !wipe.readyAt);

    await pass(11 * minute);
    assert.equal(server.name, promised);
    assert.equal(server.os.name, 'macos-tahoe-26.5', 'the newest of its family that is no beta');
    assert.equal((await host(id)).spec.release, undefined);
    assert.equal((await host(id)).spec.poolPrefix, 'tuist-pool-');
    const after = await status();
    assert.deepEqual(
      [after.state, after.name, after.wipe, after.installs, after.retiredHostKeys, after.quarantine, after.heldBy],
      ['pool', promised, undefined, 1, ['SHA256:old'], undefined, undefined],
    );
    assert.equal(await reason(id, 'Wiped'), 'Wiped');
    assert.equal(await reason(id, 'Named'), 'NameMatches');
    assert.deepEqual(eventReasons, ['WipeRequested', 'ReturnedToPool']);
    assert.equal(scaleway.requests.filter((request) => request.startsWith('POST')).length, 1);
  });

  it('deletes the Node that an agent recreated before the wipe, and no other', async (t) => {
    const { id, release, client, pass, settle, state } = await setUp(t);
    const node = (name: string, server: string) =>
      client.create(nodes, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name },
        spec: { providerID: `scw-applesilicon://fr-par-1/${server}` },
      });
    await node('mac-1', id);
    await node('mac-2', 'another');
    await release(id);
    await settle();
    const names = async () => (await client.list(nodes)).items.map(({ metadata }) => metadata.name);
    assert.deepEqual(await names(), ['mac-1', 'mac-2'], 'until then its agent would make it anew');
    await pass(11 * minute);
    assert.equal(await state(), 'pool');
    assert.deepEqual(await names(), ['mac-2']);
  });

  it('can be followed by a claim only when it is complete', async (t) => {
    const { id, server, running, release, machine, take, pass, settle } = await setUp(t);
    const seen: (string | undefined)[] = [];
    running.macHosts.subscribe((change) => {
      if (change.type === 'changed') {
        const { spec, status } = change.object;
        seen.push([spec.release ? 'release' : 'free', status?.state, status?.name].join(' '));
      }
    });
    await release(id);
    await settle();
    const next = await machine('mac-2');
    await assert.rejects(take(id, next), /being released|either held/);
    await pass(11 * minute);
    const firstFree = seen.findIndex((each) => each?.startsWith('free'));
    assert.match(seen[firstFree] ?? '', /^free releasing tuist-releasing-/, 'the release goes first, the state last');
    await take(id, next);
    await pass(1000);
    assert.equal(server.name, 'mac-2');
  });

  for (const [sentence, renameWhileReinstalling] of [
    ['accepts', 'accepted'],
    ['refuses', 'refused'],
  ] as const)
    it(`works if Scaleway ${sentence} renames during a reinstall`, async (t) => {
      const { id, server, scaleway, release, pass, state } = await setUp(t);
      scaleway.faults.renameWhileReinstalling = renameWhileReinstalling;
      await release(id);
      await pass(11 * minute);
      assert.equal(await state(), 'pool');
      assert.equal(server.installs, 1);
    });

  it('waits for a reinstall that a person started, and then wipes the Mac itself', async (t) => {
    const { id, server, scaleway, pool, release, pass, state, reason, wipes, clock } = await setUp(t);
    scaleway.faults.renameWhileReinstalling = 'refused';
    await pool.reinstall('fr-par-1', id, undefined);
    clock.advance(1);
    await release(id);
    await pass(minute);
    assert.equal(server.name, 'mac-1');
    assert.equal(await reason(id, 'Named'), 'RenameRefused');
    assert.equal(wipes(), 1);
    await pass(26 * minute);
    assert.equal(await state(), 'pool');
    assert.equal(server.installs, 2);
    assert.match(server.os.name, /26\.5/);
  });

  it('survives lost responses to renames and to the reinstall', async (t) => {
    const { id, server, scaleway, release, pass, state, wipes } = await setUp(t);
    scaleway.faults.calls.push(
      { match: /PATCH/, times: 4, with: 'lost' },
      { match: /reinstall$/, times: 1, with: 'lost' },
    );
    await release(id);
    await pass(minute, 1000);
    assert.equal(wipes(), 1, 'it was seen reinstalling, so nobody asks again');
    scaleway.faults.calls.push({ match: /PATCH/, times: 4, with: 'lost' });
    await pass(15 * minute);
    assert.equal(await state(), 'pool');
    assert.equal(server.installs, 1);
    assert.match(server.name, /^tuist-pool-[0-9a-f]{8}$/);
  });

  it('requests a wipe again if it was never observed', async (t) => {
    const { id, server, scaleway, release, pass, state, wipes, reason, status } = await setUp(t);
    // Accepted, but not done.
    scaleway.faults.calls.push({ match: /reinstall$/, times: 1, with: { status: 503, body: {} } });
    await release(id);
    await pass(110_000);
    assert.equal(wipes(), 1);
    assert.equal(server.installs, 0);
    assert.equal(await reason(id, 'Wiped'), 'WipeRequested');
    await pass(20_000);
    assert.equal(wipes(), 2);
    assert.equal((await status()).wipe?.attempts, 2);
    await pass(11 * minute);
    assert.equal(await state(), 'pool');
    assert.equal(server.installs, 1);
  });

  it('does not take a restart for a wipe', async (t) => {
    const { id, server, scaleway, release, pass, state, wipes, busy, reason } = await setUp(t);
    scaleway.faults.calls.push({ match: /reinstall$/, times: 1, with: busy('rebooting') });
    await release(id);
    await pass(5000);
    assert.equal(wipes(), 1);
    assert.equal(server.installs, 0);
    assert.notEqual(await state(), 'pool');
    assert.equal(await reason(id, 'Wiped'), 'WipeFailed');
    await pass(12 * minute);
    assert.equal(wipes(), 2);
    assert.equal(server.installs, 1);
    assert.equal(await state(), 'pool');
  });

  it('waits for a server that is busy with something else', async (t) => {
    const { id, server, release, pass, state, wipes } = await setUp(t);
    server.status = 'rebooting';
    await release(id);
    await pass(5 * minute);
    assert.equal(wipes(), 0);
    server.status = 'ready';
    await pass(11 * minute);
    assert.equal(wipes(), 1);
    assert.equal(await state(), 'pool');
  });

  it('treats the error that the server is already reinstalling as success', async (t) => {
    const { id, server, scaleway, release, pass, state, wipes, busy } = await setUp(t);
    scaleway.faults.calls.push({ match: /reinstall$/, times: 1, with: busy('reinstalling') });
    await release(id);
    server.status = 'ready';
    await pass(14 * minute);
    assert.equal(wipes(), 2, 'nobody saw it reinstalling, so it is asked for again');
    assert.equal(await state(), 'pool');
    assert.equal(server.installs, 1);
  });

  it('retries a failed reinstall with back-off, and quarantines the Mac after three', async (t) => {
    const { id, server, scaleway, release, pass, state, wipes, reason, status, eventReasons } = await setUp(t);
    scaleway.faults.reinstallFails.add(id);
    await release(id);
    await pass(11 * minute);
    assert.equal(server.status, 'error');
    assert.equal(await reason(id, 'Wiped'), 'WipeFailed');
    assert.equal(await state(), 'releasing');
    assert.equal(wipes(), 1);
    await pass(75 * minute, minute);
    assert.equal(wipes(), 3);
    assert.equal(await state(), 'quarantined');
    assert.equal(await reason(id, 'Quarantined'), 'WipeFailed');
    assert.equal((await status()).quarantine?.count, 1);
    assert.equal(eventReasons.filter((each) => each === 'Quarantined').length, 1);
    await pass(6 * 60 * minute, 5 * minute);
    assert.ok(wipes() > 3);
    assert.equal((await status()).quarantine?.count, 1, 'once for each release');

    scaleway.faults.reinstallFails.delete(id);
    await pass(4 * 60 * minute, 5 * minute);
    assert.match(server.name, /^tuist-pool-/);
    assert.equal(await state(), 'quarantined');
    await pass(day, 60 * minute);
    assert.equal(await state(), 'pool');
  });

  it('looks up the image once, and reports when there is none of the family', async (t) => {
    const { id, server, release, pass, eventReasons } = await setUp(t);
    await release(id, { family: 'monterey' });
    await pass(11 * minute);
    assert.equal(eventReasons.filter((each) => each === 'OSPinUnavailable').length, 1);
    assert.equal(server.os.name, 'macos-tahoe-26.3');
  });

  it('slows down while a permission is missing, and names the permission set', async (t) => {
    const { id, scaleway, release, pass, state, wipes, status, message } = await setUp(t);
    const body = { type: 'permissions_denied', details: [{ action: 'update', resource: 'server' }] };
    scaleway.faults.calls.push({ match: /reinstall$/, times: 1000, with: { status: 403, body } });
    await release(id, { reason: 'BootstrapExhausted', message: 'It never answered.' });
    await pass(20 * minute);
    assert.equal(wipes(), 4);
    assert.match(await message('Wiped'), /AppleSiliconFullAccess/);
    assert.equal((await status()).wipe?.attempts, 4);
    assert.equal((await status()).quarantine?.reason, 'It never answered.');
    scaleway.faults.calls.length = 0;
    await pass(30 * minute);
    assert.equal((await status()).quarantine?.count, 1);
    assert.equal(await state(), 'quarantined');
  });

  it('ends in quarantine after a failed bootstrap, longer each time', async (t) => {
    const { id, server, release, pass, state, status, reason, eventReasons, clock } = await setUp(t);
    const blame = { reason: 'BootstrapExhausted', message: 'sshd refused 8 times.' } as const;
    await release(id, blame);
    await pass(11 * minute);
    assert.match(server.name, /^tuist-pool-/);
    assert.equal(await state(), 'quarantined');
    assert.equal(await reason(id, 'Quarantined'), 'BootstrapsFailed');
    assert.deepEqual(eventReasons, ['WipeRequested', 'Quarantined', 'ReturnedToPool']);
    const { quarantine } = await status();
    assert.deepEqual([quarantine?.count, quarantine?.reason], [1, 'sshd refused 8 times.']);
    await pass(day, 60 * minute);
    assert.equal(await state(), 'pool');
    assert.equal(await reason(id, 'Quarantined'), 'NotQuarantined');
    await release(id, { ...blame, reason: 'NotWiped' });
    await pass(2 * minute);
    assert.match(server.name, /^tuist-pool-/, 'another cluster may hold it');
    await pass(12 * minute);
    const second = (await status()).quarantine;
    assert.equal(second?.count, 2);
    assert.ok(Date.parse(second.until) - clock.now() > 1.9 * day);
    assert.equal(await reason(id, 'Quarantined'), 'NotWiped');
    assert.equal(server.installs, 2);
  });

  it('ends for a Mac that somebody else has renamed: it is neither renamed nor wiped', async (t) => {
    const { id, server, release, pass, wipes, host, eventReasons } = await setUp(t);
    server.name = 'mac-of-another-cluster';
    await release(id, { serverName: 'mac-1', hostKey: 'SHA256:last' });
    await pass(11 * minute);
    assert.equal(server.name, 'mac-of-another-cluster');
    assert.equal(wipes(), 0);
    const { spec, status } = await host(id);
    assert.deepEqual([spec.release, status?.state], [undefined, 'held'], 'its machine still holds it');
    assert.deepEqual(status?.retiredHostKeys, ['SHA256:last']);
    assert.deepEqual(eventReasons, ['TakenByOthers']);
  });

  it('starts over for another release', async (t) => {
    const { id, server, release, pass, state, wipes, settle } = await setUp(t);
    await release(id);
    await settle();
    assert.equal(wipes(), 1);
    await pass(5 * minute);
    await release(id, { poolPrefix: 'other-pool-' });
    await pass(30 * minute);
    assert.equal(server.installs, 2);
    assert.match(server.name, /^other-pool-/);
    assert.equal(await state(), 'pool');
  });

  it('is continued by another manager from any point', async (t) => {
    const harness = await setUp(t);
    let { running } = harness;
    await harness.release(harness.id);
    for (let seconds = 0; seconds < 15 * 60; seconds += 30) {
      await running.stop();
      running = await harness.start();
      await harness.pass(30_000);
    }
    assert.equal(await harness.state(), 'pool');
    assert.equal(harness.server.installs, 1);
  });

  it('is recovered from the server name alone', async (t) => {
    const { id, server, release, pass, client, settle, state, host } = await setUp(t);
    await release(id);
    await settle();
    const promised = server.name.slice('tuist-releasing-'.length);
    await client.delete(macHost.resource, { name: id });
    await pass(2000);
    assert.equal((await host(id)).spec.release?.poolPrefix, 'tuist-pool-');
    await pass(25 * minute);
    assert.equal(server.name, promised);
    assert.equal(server.installs, 2, 'how far it had come was lost');
    assert.equal(await state(), 'pool');
  });
});
