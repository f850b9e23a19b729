import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { isKubeError, KubeError } from '@tartan/kube';
import { reserveHost } from './reserve-host.ts';
import { forgetReservation } from './suite/forget-reservation.ts';
import { takeHost } from './take-host.ts';
import { aRelease, heldBy, wanted as anyone } from './testing/a-host.ts';
import { setStage } from './testing/embedded.ts';

const now = Date.parse('2026-06-01T00:00:00Z');

/** A machine that has reserved the Mac `a`, which is free. */
const reserved = async (t: TestContext) => {
  const stage = await setStage(t);
  const { people, client, requests } = stage;
  const fresh = await people.addMachine('m');
  const host = await people.addHost('a');
  const reservation = await reserveHost(client, fresh, host);
  assert.equal(reservation.kind, 'reserved');
  const { machine } = reservation as { machine: typeof fresh };
  const wanted = { ...anyone, name: 'm', uid: machine.metadata.uid };
  requests.length = 0;
  return { ...stage, host, machine, wanted, take: () => takeHost(client, { machine, wanted, host, now }) };
};

describe('a machine reserves a Mac', () => {
  test('by its name and version, in one guarded write', async (t) => {
    const { people, client, requests } = await setStage(t);
    const [fresh, host] = [await people.addMachine('m', { phase: 'Pending' }), await people.addHost('a')];
    assert.equal((await reserveHost(client, fresh, host)).kind, 'reserved');
    const { serverID, serverVersion, phase } = (await people.machine('m')).status ?? {};
    assert.deepEqual(
      { serverID, serverVersion, phase },
      { serverID: 'a', serverVersion: host.metadata.resourceVersion, phase: 'Pending' },
    );
    assert.equal(requests.length, 1);
    const other = await people.addHost('b');
    assert.equal((await reserveHost(client, fresh, other)).kind, 'tryAgain', 'this copy of the machine is old');
    assert.equal((await people.machine('m')).status?.serverID, 'a');
  });

  test('and never a second one', async (t) => {
    const { people, client, machine } = await reserved(t);
    const outcome = await reserveHost(client, machine, await people.addHost('b'));
    assert.deepEqual(outcome, { kind: 'tryAgain', why: 'it has reserved a' });
  });

  test('not while it is being deleted, or gone', async (t) => {
    const { people, client } = await setStage(t);
    const [fresh, host] = [await people.addMachine('m'), await people.addHost('a')];
    const deleting = { ...fresh, metadata: { ...fresh.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    assert.deepEqual(await reserveHost(client, deleting, host), { kind: 'tryAgain', why: 'it is being deleted' });
    const never = { ...fresh, metadata: { ...fresh.metadata, name: 'never' } };
    assert.deepEqual(await reserveHost(client, never, host), { kind: 'tryAgain', why: 'it is gone' });
  });
});

describe('a machine takes the Mac that it has reserved', () => {
  test('in one write, which says who holds it and from which pool it came', async (t) => {
    const { take, people, wanted, requests } = await reserved(t);
    const outcome = await take();
    assert.equal(outcome.kind, 'taken');
    assert.deepEqual(requests, ['PATCH machosts/a']);
    const { spec } = await people.host('a');
    assert.deepEqual(spec.consumerRef, heldBy('m', wanted.uid));
    assert.equal(spec.poolPrefix, 'tuist-pool-');
  });

  test('also when it has been written meanwhile and is still free: the reservation follows', async (t) => {
    const { take, people, requests } = await reserved(t);
    const touched = await people.touchHost('a');
    const outcome = await take();
    assert.equal(outcome.kind, 'taken');
    assert.deepEqual(requests.slice(0, 2), ['PATCH machosts/a', 'GET machosts/a']);
    assert.equal((await people.machine('m')).status?.serverVersion, touched.metadata.resourceVersion);
    assert.equal(outcome.kind === 'taken' && outcome.machine.status?.serverVersion, touched.metadata.resourceVersion);
  });

  test('and finds it its own when the answer was lost', async (t) => {
    const { take, people, interpose, requests } = await reserved(t);
    interpose((send) => async (request) => {
      const answer = await send(request);
      if (request.method === 'PATCH') throw new KubeError('unreachable', 'the connection broke');
      return answer;
    });
    await assert.rejects(take(), (error) => isKubeError(error, 'unreachable'));
    interpose((send) => send);
    const { metadata } = await people.host('a');
    requests.length = 0;
    const outcome = await take();
    assert.equal(outcome.kind, 'taken');
    assert.deepEqual(
      requests,
      ['PATCH machosts/a', 'GET machosts/a'],
      'it wrote what was refused, looked, and was done',
    );
    assert.equal((await people.host('a')).metadata.resourceVersion, metadata.resourceVersion);
  });

  test('or loses it to another machine', async (t) => {
    const { take, people } = await reserved(t);
    await people.changeHost('a', { consumerRef: heldBy('other', 'uid-other') });
    const outcome = await take();
    assert.equal(outcome.kind, 'lost');
    assert.match(outcome.kind === 'lost' ? outcome.why : '', /held by macs\/other/);
    assert.equal(
      (await people.machine('m')).status?.serverID,
      'a',
      'what becomes of the reservation is for the caller',
    );
  });

  test('or loses it to another machine of the same name', async (t) => {
    const { take, people } = await reserved(t);
    await people.changeHost('a', { consumerRef: heldBy('m', 'uid-of-an-older-m') });
    assert.equal((await take()).kind, 'lost');
  });

  for (const [title, change] of [
    ['a release', (people) => people.changeHost('a', { release: aRelease })],
    ['a quarantine', (people) => people.touchHost('a', { state: 'quarantined' })],
    ['somebody who renamed it', (people) => people.touchHost('a', { name: 'mine-now' })],
    ['a restart', (people) => people.touchHost('a', { serverStatus: 'rebooting' })],
  ] as [string, (people: Awaited<ReturnType<typeof setStage>>['people']) => Promise<unknown>][]) {
    test(`or loses it to ${title}`, async (t) => {
      const { take, people } = await reserved(t);
      await change(people);
      assert.equal((await take()).kind, 'lost');
      assert.equal((await people.host('a')).spec.consumerRef, undefined);
    });
  }

  test('or loses it when its object is gone, unless there is another under that name', async (t) => {
    const { client, machine, wanted, people, host } = await reserved(t);
    const never = { ...machine, status: { ...machine.status, serverID: 'never' } };
    assert.deepEqual(await takeHost(client, { machine: never, wanted, host, now }), {
      kind: 'lost',
      why: 'its MacHost is gone',
      host: undefined,
    });
    await people.removeHost('a');
    const another = await people.addHost('a');
    assert.notEqual(another.metadata.uid, host.metadata.uid);
    const outcome = await takeHost(client, { machine, wanted, host, now });
    assert.equal(outcome.kind, 'taken', 'one that is free under that name is as good, once it is reserved as it is');
    const { metadata, status } = outcome.kind === 'taken' ? outcome.machine : machine;
    assert.equal(status?.serverVersion, another.metadata.resourceVersion);
    assert.equal(metadata.uid, wanted.uid);
  });

  test('does not judge again the version that it has reserved: another clock may see a quarantine', async (t) => {
    const { people, client } = await setStage(t);
    const quarantine = { count: 1, reason: 'it failed', until: '2026-06-01T00:00:00Z' };
    const [fresh, host] = [await people.addMachine('m'), await people.addHost('a', {}, { quarantine })];
    const reservation = await reserveHost(client, fresh, host);
    assert.ok(reservation.kind === 'reserved');
    const wanted = { ...anyone, name: 'm', uid: fresh.metadata.uid };
    const outcome = await takeHost(client, { machine: reservation.machine, wanted, now: now - 1000 });
    assert.equal(
      outcome.kind,
      'taken',
      'a reservation that were given up here could still be carried out by its maker',
    );
  });

  test('gives up for now when the Mac is written all the time', async (t) => {
    const { take, people, interpose } = await reserved(t);
    let at = 0;
    interpose((send) => async (request) => {
      if (request.method === 'PATCH' && request.path.includes('/machosts/'))
        await people.touchHost('a', { ip: `198.18.0.${at++}` });
      return send(request);
    });
    assert.equal((await take()).kind, 'tryAgain');
  });

  test('never with an old copy of itself, once its reservation was given up and the Mac is free again', async (t) => {
    const { client, people, machine, wanted, take } = await reserved(t);
    // Somebody else was faster: another manager sees that, gives the reservation up, and finds another Mac.
    await people.changeHost('a', { consumerRef: heldBy('other', 'uid-other') });
    assert.equal((await take()).kind, 'lost');
    const hostless = await forgetReservation(client, machine);
    const other = await people.addHost('b');
    const next = await reserveHost(client, hostless, other);
    assert.ok(next.kind === 'reserved');
    assert.equal((await takeHost(client, { machine: next.machine, wanted, host: other, now })).kind, 'taken');
    // The Mac comes back, and the first manager thaws.
    await people.changeHost('a', { consumerRef: null, release: aRelease });
    await people.changeHost('a', { release: null });
    const outcomes = [await take(), await takeHost(client, { machine, wanted, host: await people.host('a'), now })];
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['tryAgain', 'tryAgain'],
    );
    assert.equal((await people.host('a')).spec.consumerRef, undefined);
  });

  test('has nothing to take without a reservation', async (t) => {
    const { people, client } = await setStage(t);
    const machine = await people.addMachine('m');
    const outcome = await takeHost(client, { machine, wanted: anyone, host: await people.addHost('a'), now });
    assert.deepEqual(outcome, { kind: 'tryAgain', why: 'the machine has reserved no server' });
  });

  test('surfaces what it cannot judge', async (t) => {
    const { take, interpose } = await reserved(t);
    interpose(() => () => Promise.reject(new KubeError('forbidden', 'no')));
    await assert.rejects(take(), (error) => isKubeError(error, 'forbidden'));
  });
});
