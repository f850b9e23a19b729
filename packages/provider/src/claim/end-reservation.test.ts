import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { isKubeError, KubeError } from '@tartan/kube';
import { endReservation } from './end-reservation.ts';
import { reserveHost } from './reserve-host.ts';
import { takeHost } from './take-host.ts';
import { wanted } from './testing/a-host.ts';
import { setStage } from './testing/embedded.ts';

/** A machine that has reserved the Mac `a` and goes away. */
const leaving = async (t: TestContext) => {
  const stage = await setStage(t);
  const { client, people } = stage;
  const [fresh, host] = [await people.addMachine('m'), await people.addHost('a')];
  const reservation = await reserveHost(client, fresh, host);
  assert.ok(reservation.kind === 'reserved');
  const { machine } = reservation;
  const mine = { ...wanted, name: 'm', uid: machine.metadata.uid };
  return { ...stage, machine, host, take: () => takeHost(client, { machine, wanted: mine, host, now: 0 }) };
};

describe('a machine that goes away before it took its Mac', () => {
  test('ends its reservation: nobody takes the Mac for a dead one', async (t) => {
    const { client, people, machine, host, take } = await leaving(t);
    assert.equal(await endReservation(client, machine, host), 'ended');
    // Its deletion has made the machine another version too, so that the reservation cannot follow the Mac.
    await people.touchMachine('m');
    assert.equal((await take()).kind, 'tryAgain');
    const { metadata, spec } = await people.host('a');
    assert.equal(spec.consumerRef, undefined);
    assert.equal(metadata.annotations?.['tuist.dev/reservation-ended'], machine.metadata.uid);
  });

  test('once is enough', async (t) => {
    const { client, people, machine, host, requests } = await leaving(t);
    await endReservation(client, machine, host);
    requests.length = 0;
    assert.equal(await endReservation(client, machine, await people.host('a')), 'ended');
    assert.deepEqual(requests, []);
  });

  test('looks again when it was taken at the last moment', async (t) => {
    const { client, machine, host, take } = await leaving(t);
    assert.equal((await take()).kind, 'taken');
    assert.equal(await endReservation(client, machine, host), 'lookAgain');
  });

  test('has nothing to end when the Mac is gone', async (t) => {
    const { client, people, machine, host } = await leaving(t);
    await people.removeHost('a');
    assert.equal(await endReservation(client, machine, host), 'ended');
  });

  test('surfaces what it cannot judge', async (t) => {
    const { client, interpose, machine, host } = await leaving(t);
    interpose(() => () => Promise.reject(new KubeError('unreachable', 'no')));
    await assert.rejects(endReservation(client, machine, host), (error) => isKubeError(error, 'unreachable'));
  });
});
