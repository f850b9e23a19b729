import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { annotations, macHost } from '@tartan/api';
import { getCondition, nodes } from '@tartan/kube';
import { createHarness } from './testing/harness.ts';

const minute = 60_000;
const hour = 60 * minute;

const setUp = async (t: TestContext) => {
  const harness = await createHarness(t);
  const server = await harness.order('tuist-pool-1');
  const { id } = server;
  await harness.start();
  await harness.pass(1000);
  const annotate = async (reason: string | null) => {
    const body = { metadata: { annotations: { [annotations.abandon]: reason } } };
    await harness.client.patch(macHost.resource, { name: id }, { type: 'merge', body });
    await harness.settle();
  };
  const status = async () => (await harness.host(id)).status ?? {};
  return {
    ...harness,
    server,
    id,
    annotate,
    status,
    hold: async () => {
      await harness.take(id, await harness.machine('mac-1', id));
      await harness.pass(1000);
    },
    condition: async (type: string) => getCondition((await status()).conditions, type),
    addNode: (name: string) =>
      harness.client.create(nodes, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name },
        spec: { providerID: `scw-applesilicon://fr-par-1/${id}` },
      }),
    isCordoned: async (name: string) => (await harness.client.get(nodes, { name })).spec?.unschedulable === true,
    changes: () => harness.scaleway.requests.filter((request) => !request.startsWith('GET')).length,
  };
};

describe('an abandoned Mac', () => {
  it('reports it in its state, a condition and one event', async (t) => {
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

  it('needs no reason in the annotation', async (t) => {
    const { annotate, status } = await setUp(t);
    await annotate('');
    assert.equal((await status()).state, 'abandoned');
  });

  it('is neither wiped nor renamed during a release, which continues when the annotation is removed', async (t) => {
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

  it('is left alone at once, also in the middle of a reconcile', async (t) => {
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

  it('has a cordoned Node when its agent comes back, unless its machine exists', async (t) => {
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

  it('loses its MacHost when the server is gone at Scaleway', async (t) => {
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
  it('has a cordoned Node when its agent comes back', async (t) => {
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
