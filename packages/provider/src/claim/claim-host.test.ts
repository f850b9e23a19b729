import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { isKubeError, KubeError } from '@tartan/kube';
import { endReservation, reserveHost, takeHost } from './claim-host.ts';
import { forgetReservation } from './suite/actors.ts';
import { createHarness } from './testing/harness.ts';
import { exampleRelease, heldBy, wanted as anyone, wanted } from './testing/hosts.ts';

const now = Date.parse('2026-06-01T00:00:00Z');

/** A machine that has reserved the Mac `a`, which is free. */
const reserved = async (t: TestContext) => {
  const harness = await createHarness(t);
  const { fixtures, client, requests } = harness;
  const fresh = await fixtures.addMachine('m');
  const host = await fixtures.addHost('a');
  const machine = await reserveHost(client, fresh, host);
  assert.ok(machine);
  const wanted = { ...anyone, name: 'm', uid: machine.metadata.uid };
  requests.length = 0;
  return { ...harness, host, machine, wanted, take: () => takeHost(client, { machine, wanted, host, now }) };
};

describe('reserveHost', () => {
  test('records server and resourceVersion in one guarded write', async (t) => {
    const { fixtures, client, requests } = await createHarness(t);
    const [fresh, host] = [await fixtures.addMachine('m', { phase: 'Pending' }), await fixtures.addHost('a')];
    assert.ok(await reserveHost(client, fresh, host));
    const { serverID, serverVersion, phase } = (await fixtures.machine('m')).status ?? {};
    assert.deepEqual(
      { serverID, serverVersion, phase },
      { serverID: 'a', serverVersion: host.metadata.resourceVersion, phase: 'Pending' },
    );
    assert.equal(requests.length, 1);
    const other = await fixtures.addHost('b');
    assert.equal(await reserveHost(client, fresh, other), undefined, 'this copy of the machine is old');
    assert.equal((await fixtures.machine('m')).status?.serverID, 'a');
  });

  test('never reserves a second Mac', async (t) => {
    const { fixtures, client, machine } = await reserved(t);
    assert.equal(await reserveHost(client, machine, await fixtures.addHost('b')), undefined);
    assert.equal((await fixtures.machine('m')).status?.serverID, 'a');
  });

  test('does nothing for a machine that is being deleted or gone', async (t) => {
    const { fixtures, client } = await createHarness(t);
    const [fresh, host] = [await fixtures.addMachine('m'), await fixtures.addHost('a')];
    const deleting = { ...fresh, metadata: { ...fresh.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    assert.equal(await reserveHost(client, deleting, host), undefined);
    const never = { ...fresh, metadata: { ...fresh.metadata, name: 'never' } };
    assert.equal(await reserveHost(client, never, host), undefined);
    assert.equal((await fixtures.machine('m')).status?.serverID, undefined);
  });
});

describe('takeHost', () => {
  test('writes consumerRef and poolPrefix in one write', async (t) => {
    const { take, fixtures, wanted, requests } = await reserved(t);
    const outcome = await take();
    assert.equal(outcome.kind, 'taken');
    assert.deepEqual(requests, ['PATCH machosts/a']);
    const { spec } = await fixtures.host('a');
    assert.deepEqual(spec.consumerRef, heldBy('m', wanted.uid));
    assert.equal(spec.poolPrefix, 'tuist-pool-');
  });

  test('renews the reservation when the MacHost changed and is still free', async (t) => {
    const { take, fixtures, requests } = await reserved(t);
    const touched = await fixtures.touchHost('a');
    const outcome = await take();
    assert.equal(outcome.kind, 'taken');
    assert.deepEqual(requests.slice(0, 2), ['PATCH machosts/a', 'GET machosts/a']);
    assert.equal((await fixtures.machine('m')).status?.serverVersion, touched.metadata.resourceVersion);
    assert.equal(outcome.kind === 'taken' && outcome.machine.status?.serverVersion, touched.metadata.resourceVersion);
  });

  test('finds the Mac held when the answer was lost', async (t) => {
    const { take, fixtures, interpose, requests } = await reserved(t);
    interpose((send) => async (request) => {
      const answer = await send(request);
      if (request.method === 'PATCH') throw new KubeError('unreachable', 'the connection broke');
      return answer;
    });
    await assert.rejects(take(), (error) => isKubeError(error, 'unreachable'));
    interpose((send) => send);
    const { metadata } = await fixtures.host('a');
    requests.length = 0;
    const outcome = await take();
    assert.equal(outcome.kind, 'taken');
    assert.deepEqual(
      requests,
      ['PATCH machosts/a', 'GET machosts/a'],
      'it wrote what was refused, looked, and was done',
    );
    assert.equal((await fixtures.host('a')).metadata.resourceVersion, metadata.resourceVersion);
  });

  test('loses the Mac to another machine', async (t) => {
    const { take, fixtures } = await reserved(t);
    await fixtures.changeHost('a', { consumerRef: heldBy('other', 'uid-other') });
    assert.equal((await take()).kind, 'lost');
    assert.equal(
      (await fixtures.machine('m')).status?.serverID,
      'a',
      'what becomes of the reservation is for the caller',
    );
  });

  test('loses the Mac to another machine of the same name', async (t) => {
    const { take, fixtures } = await reserved(t);
    await fixtures.changeHost('a', { consumerRef: heldBy('m', 'uid-of-an-older-m') });
    assert.equal((await take()).kind, 'lost');
  });

  for (const [title, change] of [
    ['a release', (fixtures) => fixtures.changeHost('a', { release: exampleRelease })],
    ['a quarantine', (fixtures) => fixtures.touchHost('a', { state: 'quarantined' })],
    ['a rename by somebody else', (fixtures) => fixtures.touchHost('a', { name: 'mine-now' })],
    ['a restart', (fixtures) => fixtures.touchHost('a', { serverStatus: 'rebooting' })],
  ] as [string, (fixtures: Awaited<ReturnType<typeof createHarness>>['fixtures']) => Promise<unknown>][]) {
    test(`loses the Mac to ${title}`, async (t) => {
      const { take, fixtures } = await reserved(t);
      await change(fixtures);
      assert.equal((await take()).kind, 'lost');
      assert.equal((await fixtures.host('a')).spec.consumerRef, undefined);
    });
  }

  test('loses the Mac when its MacHost is gone, unless it was recreated', async (t) => {
    const { client, machine, wanted, fixtures, host } = await reserved(t);
    const never = { ...machine, status: { ...machine.status, serverID: 'never' } };
    assert.deepEqual(await takeHost(client, { machine: never, wanted, host, now }), { kind: 'lost' });
    await fixtures.removeHost('a');
    const another = await fixtures.addHost('a');
    assert.notEqual(another.metadata.uid, host.metadata.uid);
    const outcome = await takeHost(client, { machine, wanted, host, now });
    assert.equal(outcome.kind, 'taken', 'one that is free under that name is as good, once it is reserved as it is');
    const { metadata, status } = outcome.kind === 'taken' ? outcome.machine : machine;
    assert.equal(status?.serverVersion, another.metadata.resourceVersion);
    assert.equal(metadata.uid, wanted.uid);
  });

  test('does not re-check the reserved version: another clock may see a quarantine', async (t) => {
    const { fixtures, client } = await createHarness(t);
    const quarantine = { count: 1, reason: 'it failed', until: '2026-06-01T00:00:00Z' };
    const [fresh, host] = [await fixtures.addMachine('m'), await fixtures.addHost('a', {}, { quarantine })];
    const machine = await reserveHost(client, fresh, host);
    assert.ok(machine);
    const wanted = { ...anyone, name: 'm', uid: fresh.metadata.uid };
    const outcome = await takeHost(client, { machine, wanted, now: now - 1000 });
    assert.equal(
      outcome.kind,
      'taken',
      'a reservation that were given up here could still be carried out by its maker',
    );
  });

  test('retries later when the MacHost keeps changing', async (t) => {
    const { take, fixtures, interpose } = await reserved(t);
    let at = 0;
    interpose((send) => async (request) => {
      if (request.method === 'PATCH' && request.path.includes('/machosts/'))
        await fixtures.touchHost('a', { ip: `198.18.0.${at++}` });
      return send(request);
    });
    assert.equal((await take()).kind, 'conflict');
  });

  test('never takes the Mac with a stale copy of the machine', async (t) => {
    const { client, fixtures, machine, wanted, take } = await reserved(t);
    // Another machine was faster: another manager sees that, removes the reservation, and finds another Mac.
    await fixtures.changeHost('a', { consumerRef: heldBy('other', 'uid-other') });
    assert.equal((await take()).kind, 'lost');
    const hostless = await forgetReservation(client, machine);
    const other = await fixtures.addHost('b');
    const next = await reserveHost(client, hostless, other);
    assert.ok(next);
    assert.equal((await takeHost(client, { machine: next, wanted, host: other, now })).kind, 'taken');
    // The Mac is free again, and the first manager thaws.
    await fixtures.changeHost('a', { consumerRef: null, release: exampleRelease });
    await fixtures.changeHost('a', { release: null });
    const outcomes = [await take(), await takeHost(client, { machine, wanted, host: await fixtures.host('a'), now })];
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['conflict', 'conflict'],
    );
    assert.equal((await fixtures.host('a')).spec.consumerRef, undefined);
  });

  test('does nothing without a reservation', async (t) => {
    const { fixtures, client } = await createHarness(t);
    const machine = await fixtures.addMachine('m');
    const outcome = await takeHost(client, { machine, wanted: anyone, host: await fixtures.addHost('a'), now });
    assert.deepEqual(outcome, { kind: 'conflict' });
  });

  test('rejects with other errors', async (t) => {
    const { take, interpose } = await reserved(t);
    interpose(() => () => Promise.reject(new KubeError('forbidden', 'no')));
    await assert.rejects(take(), (error) => isKubeError(error, 'forbidden'));
  });
});

/** A machine that has reserved the Mac `a` and is being deleted. */
const leaving = async (t: TestContext) => {
  const harness = await createHarness(t);
  const { client, fixtures } = harness;
  const [fresh, host] = [await fixtures.addMachine('m'), await fixtures.addHost('a')];
  const machine = await reserveHost(client, fresh, host);
  assert.ok(machine);
  const mine = { ...wanted, name: 'm', uid: machine.metadata.uid };
  return { ...harness, machine, host, take: () => takeHost(client, { machine, wanted: mine, host, now: 0 }) };
};

describe('endReservation', () => {
  test('keeps everybody from taking the Mac for a deleted machine', async (t) => {
    const { client, fixtures, machine, host, take } = await leaving(t);
    assert.equal(await endReservation(client, machine, host), 'ended');
    // The deletion has changed the version of the machine too, so the reservation cannot be renewed.
    await fixtures.touchMachine('m');
    assert.equal((await take()).kind, 'conflict');
    const { metadata, spec } = await fixtures.host('a');
    assert.equal(spec.consumerRef, undefined);
    assert.equal(metadata.annotations?.['tuist.dev/reservation-ended'], machine.metadata.uid);
  });

  test('is idempotent', async (t) => {
    const { client, fixtures, machine, host, requests } = await leaving(t);
    await endReservation(client, machine, host);
    requests.length = 0;
    assert.equal(await endReservation(client, machine, await fixtures.host('a')), 'ended');
    assert.deepEqual(requests, []);
  });

  test('reports a conflict when the Mac was just taken', async (t) => {
    const { client, machine, host, take } = await leaving(t);
    assert.equal((await take()).kind, 'taken');
    assert.equal(await endReservation(client, machine, host), 'conflict');
  });

  test('does nothing when the MacHost is gone', async (t) => {
    const { client, fixtures, machine, host } = await leaving(t);
    await fixtures.removeHost('a');
    assert.equal(await endReservation(client, machine, host), 'ended');
  });

  test('rejects with other errors', async (t) => {
    const { client, interpose, machine, host } = await leaving(t);
    interpose(() => () => Promise.reject(new KubeError('unreachable', 'no')));
    await assert.rejects(endReservation(client, machine, host), (error) => isKubeError(error, 'unreachable'));
  });
});
