import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { annotations, labels, machine as machineKind, macHost } from '@tartan/api';
import { timestamp } from '@tartan/kube/clock';
import { createHarness, namespace } from './testing/harness.ts';

const minute = 60_000;
const hour = 60 * minute;

const setUp = async (t: TestContext) => {
  const harness = await createHarness(t);
  /** A machine that reports that there is no Mac with that macOS. */
  const waiting = async (name: string, os: string) => {
    const made = await harness.machine(name, undefined, { os });
    const body = {
      metadata: { labels: { [labels.clusterName]: 'macs' } },
      status: { waitingForHostSince: timestamp(harness.clock.now()) },
    };
    await harness.client.patch(machineKind.resource, { name, namespace }, { type: 'merge', body });
    await harness.client.patch(
      machineKind.resource,
      { name, namespace },
      { type: 'merge', body },
      { subresource: 'status' },
    );
    return made;
  };
  return {
    ...harness,
    waiting,
    state: async (id: string) => (await harness.host(id)).status?.state,
    wipes: () => harness.scaleway.requests.filter((request) => request.endsWith('/reinstall')).length,
  };
};

describe('the macOS of a Mac', () => {
  it('is that of the machine that waits when the reinstall is requested', async (t) => {
    const { order, start, take, machine, release, waiting, pass, state, wipes } = await setUp(t);
    const server = await order('tuist-pool-1');
    await start();
    await take(server.id, await machine('mac-1', server.id));
    await pass(1000);
    await waiting('mac-2', 'Sequoia');
    await release(server.id, { family: 'tahoe' });
    await pass(12 * minute);
    assert.equal(await state(server.id), 'pool');
    assert.equal(server.os.name, 'macos-sequoia-15.6', 'the newest of that family');
    assert.equal(wipes(), 1);
  });

  it('is changed again for a machine created after the reinstall began, and back for the next', async (t) => {
    const { order, start, take, machine, release, waiting, pass, state, wipes, deleteMachine } = await setUp(t);
    const server = await order('tuist-pool-1');
    const { id } = server;
    await start();
    await take(id, await machine('mac-1', id));
    await pass(1000);
    await release(id, { family: 'tahoe' });
    await pass(minute);
    await deleteMachine('mac-1');
    await waiting('mac-2', 'Sequoia');
    await pass(25 * minute);
    assert.equal(await state(id), 'pool');
    assert.equal(server.os.family, 'Sequoia');
    assert.equal(wipes(), 2);
    await deleteMachine('mac-2');
    await waiting('mac-3', 'Tahoe');
    await pass(15 * minute);
    assert.equal(server.os.family, 'Tahoe');
    assert.equal(wipes(), 3);
    await pass(3 * hour, 5 * minute);
    assert.equal(wipes(), 3, 'and then it stays');
  });

  it('is changed on one free Mac per machine, after the machine has waited', async (t) => {
    const { order, start, waiting, pass, wipes, scaleway, eventReasons } = await setUp(t);
    for (const number of [1, 2, 3]) await order(`tuist-pool-${number}`);
    await start();
    await pass(1000);
    await waiting('mac-1', 'Sequoia');
    await pass(30_000);
    assert.equal(wipes(), 0);
    await pass(hour, minute);
    assert.equal(wipes(), 1);
    assert.deepEqual(
      scaleway
        .servers()
        .map(({ os }) => os.family)
        .toSorted(),
      ['Sequoia', 'Tahoe', 'Tahoe'],
    );
    assert.equal(eventReasons.filter((each) => each === 'OtherOSWanted').length, 1);
  });

  it('is not changed on a free Mac that another cluster claims at the same time', async (t) => {
    const { order, start, waiting, pass, wipes, host, interpose } = await setUp(t);
    const server = await order('tuist-pool-1');
    await start();
    await pass(1000);
    interpose((send) => async (request) => {
      const answer = await send(request);
      if (request.body?.includes('OtherOSWanted') === true) server.name = 'mac-of-another-cluster';
      return answer;
    });
    await waiting('mac-1', 'Sequoia');
    await pass(20 * minute);
    assert.equal(server.name, 'mac-of-another-cluster');
    assert.equal(wipes(), 0);
    assert.equal((await host(server.id)).spec.release, undefined);
  });

  it('is not changed when Scaleway has no image of it, and the waiting machine does not block others', async (t) => {
    const { order, start, take, machine, release, waiting, pass, state, wipes, eventReasons } = await setUp(t);
    const [free, held] = [await order('tuist-pool-1'), await order('tuist-pool-2')];
    await start();
    await take(held.id, await machine('mac-1', held.id));
    await pass(1000);
    await waiting('mac-2', 'Monterey');
    await pass(6 * hour, 5 * minute);
    assert.equal(wipes(), 0);
    assert.equal(eventReasons.filter((each) => each === 'OSPinUnavailable').length, 1);
    assert.equal(await state(free.id), 'pool');
    await release(held.id, { family: 'tahoe' });
    await pass(3 * hour, minute);
    assert.equal(await state(held.id), 'pool');
    assert.equal(held.os.name, 'macos-tahoe-26.5', 'its own family instead');
    assert.equal(wipes(), 1);
  });

  it('is not requested endlessly when Scaleway never reports it as installed', async (t) => {
    const { order, start, waiting, pass, wipes, scaleway } = await setUp(t);
    const { id } = await order('tuist-pool-1');
    scaleway.faults.reinstallDoesNotWipe.add(id);
    await start();
    await pass(1000);
    await waiting('mac-1', 'Sequoia');
    await pass(8 * hour, 5 * minute);
    assert.equal(wipes(), 1);
  });

  it('is looked at again only on free Macs that a machine could get, when it begins to wait', async (t) => {
    const { order, start, waiting, pass, wipes, lines } = await setUp(t);
    const fit = await order('tuist-pool-1');
    for (const number of [1, 2, 3]) await order(`other-pool-${number}`);
    await start({ pools: ['other-pool-'] });
    await pass(1000);
    const before = lines.length;
    await waiting('mac-1', 'Sequoia');
    await pass(1000);
    const seen = lines.slice(before).flatMap((line) => {
      const { msg, server } = JSON.parse(line) as { msg?: string; server?: string };
      return msg === 'Looked at a Mac' ? [server] : [];
    });
    assert.deepEqual([...new Set(seen)], [fit.id]);
    await pass(2 * minute);
    assert.equal(wipes(), 1);
  });

  it('is not changed on an abandoned Mac', async (t) => {
    const { order, start, waiting, pass, wipes, client } = await setUp(t);
    const { id } = await order('tuist-pool-1');
    await start();
    await pass(1000);
    const body = { metadata: { annotations: { [annotations.abandon]: 'x' } } };
    await client.patch(macHost.resource, { name: id }, { type: 'merge', body });
    await waiting('mac-1', 'Sequoia');
    await pass(hour, minute);
    assert.equal(wipes(), 0);
  });
});
