import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { annotations, macHost } from '@tartan/api';
import { getCondition, nodes } from '@tartan/kube';
import { createHarness } from './testing/harness.ts';

const minute = 60_000;
const hour = 60 * minute;

const setUp = async (t: TestContext) => {
  const stage = await createHarness(t);
  const server = await stage.order('tuist-pool-1');
  const { id } = server;
  await stage.start();
  await stage.pass(1000);
  const annotate = async (reason: string | null) => {
    const body = { metadata: { annotations: { [annotations.abandon]: reason } } };
    await stage.client.patch(macHost.resource, { name: id }, { type: 'merge', body });
    await stage.settle();
  };
  const status = async () => (await stage.host(id)).status ?? {};
  return {
    ...stage,
    server,
    id,
    annotate,
    status,
    hold: async () => {
      await stage.take(id, await stage.machine('mac-1', id));
      await stage.pass(1000);
    },
    condition: async (type: string) => getCondition((await status()).conditions, type),
    addNode: (name: string) =>
      stage.client.create(nodes, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name },
        spec: { providerID: `scw-applesilicon://fr-par-1/${id}` },
      }),
    isCordoned: async (name: string) => (await stage.client.get(nodes, { name })).spec?.unschedulable === true,
    changes: () => stage.scaleway.requests.filter((request) => !request.startsWith('GET')).length,
  };
};

describe('a Mac that a person has abandoned', () => {
  it('says so in its state, a condition and one event', async (t) => {
    const { annotate, status, condition, eventReasons, pass } = await setUp(t);
    await annotate('locked by Scaleway, ticket 7');
    assert.equal((await status()).state, 'abandoned');
    assert.equal((await condition('Abandoned'))?.status, 'True');
    assert.match((await condition('Abandoned'))?.message ?? '', /ticket 7.*tuist\.dev\/abandon/);
    assert.equal((await condition('Stranded'))?.status, 'False');
    await pass(hour, minute);
    assert.equal(eventReasons.filter((each) => each === 'Abandoned').length, 1);
    await annotate(null);
    assert.equal((await status()).state, 'pool');
    assert.equal((await condition('Abandoned'))?.reason, 'NotAbandoned');
  });

  it('also without a reason', async (t) => {
    const { annotate, status } = await setUp(t);
    await annotate('');
    assert.equal((await status()).state, 'abandoned');
  });

  it('is neither wiped nor renamed on its way back, and goes on when the annotation is removed', async (t) => {
    const { annotate, hold, release, server, pass, changes, status, id } = await setUp(t);
    await hold();
    await annotate('x');
    const before = changes();
    await release(id);
    await pass(5 * hour, 5 * minute);
    assert.equal(changes(), before);
    assert.deepEqual([server.name, server.installs], ['mac-1', 0]);
    await annotate(null);
    await pass(15 * minute);
    assert.equal(server.installs, 1);
    assert.equal((await status()).state, 'pool');
  });

  it('is left alone from one moment to the next, also in the middle of a pass', async (t) => {
    const { client, hold, release, interpose, pass, server, id } = await setUp(t);
    await hold();
    let isSet = false;
    // Right before the guard reads the MacHost for the last time.
    interpose((send) => async (request) => {
      if (!isSet && request.method === 'GET' && request.path.endsWith(`/machosts/${id}`)) {
        isSet = true;
        const body = { metadata: { annotations: { [annotations.abandon]: 'just now' } } };
        await client.patch(macHost.resource, { name: id }, { type: 'merge', body });
      }
      return send(request);
    });
    await release(id);
    await pass(hour, minute);
    assert.ok(isSet);
    assert.deepEqual([server.name, server.installs], ['mac-1', 0]);
  });

  it('cannot be claimed', async (t) => {
    const { annotate, machine, take, id } = await setUp(t);
    await annotate('x');
    await assert.rejects(take(id, await machine('mac-2')), /nor abandoned/);
  });

  it('keeps Pods off the Node that its agent brings back, unless its machine lives', async (t) => {
    const { annotate, hold, addNode, isCordoned, deleteMachine, pass, status } = await setUp(t);
    await hold();
    await addNode('mac-1');
    await annotate('x');
    await pass(minute);
    assert.equal(await isCordoned('mac-1'), false);
    await deleteMachine('mac-1');
    await pass(minute);
    assert.equal(await isCordoned('mac-1'), true);
    assert.equal((await status()).state, 'abandoned');
  });

  it('is forgotten when Scaleway does not know it any more', async (t) => {
    const { annotate, hostIfAny, scaleway, pass, id } = await setUp(t);
    await annotate('x');
    scaleway.faults.calls.push({
      match: new RegExp(`/servers(/${id})?$`),
      times: 1,
      with: { status: 200, body: { servers: [], total_count: 0 } },
    });
    scaleway.faults.calls.push({
      match: new RegExp(`/servers/${id}$`),
      times: 1,
      with: { status: 404, body: { type: 'not_found', resource: 'server' } },
    });
    const before = (await hostIfAny(id))?.metadata.uid;
    await pass(2 * minute);
    assert.notEqual((await hostIfAny(id))?.metadata.uid, before);
  });
});

describe('a Mac that cannot be wiped', () => {
  it('keeps Pods off the Node that its agent brings back', async (t) => {
    const { hold, release, scaleway, addNode, isCordoned, pass, client, id } = await setUp(t);
    await hold();
    scaleway.faults.calls.push({
      match: /reinstall$/,
      times: 1000,
      with: { status: 423, body: { type: 'locked', resource: 'server' } },
    });
    await addNode('mac-1');
    await release(id);
    await pass(30 * minute, minute);
    assert.equal(await isCordoned('mac-1'), false, 'its machine still waits, and core has drained it');
    await client.delete(nodes, { name: 'mac-1' });
    await pass(hour, minute);
    await addNode('mac-1');
    await pass(1000);
    assert.equal(await isCordoned('mac-1'), true, 'at once');
    scaleway.faults.calls.length = 0;
    await pass(3 * hour, minute);
    await assert.rejects(client.get(nodes, { name: 'mac-1' }), { reason: 'notFound' });
  });
});
