import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machine, macHost } from '@tartan/api';
import { Registry } from 'prom-client';
import { createHarness, namespace, zone } from '../mac-host/testing/harness.ts';
import { createZoneListErrorCounter } from '../manager/provider-metrics.ts';

const minute = 60_000;
type Stage = Awaited<ReturnType<typeof createHarness>>;

const deleteAll = async ({ client, hosts }: Stage): Promise<void> => {
  for (const { metadata } of await hosts()) await client.delete(macHost.resource, { name: metadata.name });
};
const lists = ({ scaleway }: Stage, of = zone): number =>
  scaleway.requests.filter((request) => request.includes(`/zones/${of}/servers?`)).length;

describe('the inventory', () => {
  it('is made from names alone, and again after all of it was deleted', async (t) => {
    const stage = await createHarness(t);
    const pooled = await stage.order('tuist-pool-1');
    const held = await stage.order('mac-1');
    const releasing = await stage.order('tuist-releasing-other-pool-00000001');
    const stranger = await stage.order('somebody');
    const mac = await stage.machine('mac-1', held.id);
    await stage.start({ pools: ['other-pool-'] });
    const look = async () =>
      Promise.all(
        [pooled, held, releasing, stranger].map(async ({ id }) => {
          const { spec, status } = await stage.host(id);
          return [status?.state, spec.consumerRef?.uid ?? '', spec.release?.poolPrefix ?? ''].join(' ').trim();
        }),
      );
    const expected = ['pool', `held ${mac.metadata.uid}`, 'releasing  other-pool-', 'stranded'];
    assert.deepEqual(await look(), expected);
    await deleteAll(stage);
    await stage.pass(2000);
    assert.deepEqual(await look(), expected);
    assert.equal((await stage.host(held.id)).spec.poolPrefix, 'tuist-pool-');
    assert.equal(held.name, 'mac-1');
  });

  it('knows of a machine that no cache has seen yet', async (t) => {
    const stage = await createHarness(t);
    const { id } = await stage.order('tuist-pool-1');
    await stage.machine('mac-1', id);
    await stage.start({ inventory: 'blind to machines' });
    assert.equal((await stage.host(id)).spec.consumerRef?.name, 'mac-1');
  });

  it('goes on when one MacHost cannot be made', async (t) => {
    const stage = await createHarness(t);
    const servers = await Promise.all(
      ['tuist-pool-1', 'tuist-pool-2', 'tuist-pool-3'].map((name) => stage.order(name)),
    );
    let refusals = 1;
    stage.interpose((send) => async (request) => {
      if (request.method === 'POST' && request.path.includes('/machosts') && refusals-- > 0)
        throw new Error('not this one');
      return send(request);
    });
    await stage.start();
    assert.equal((await stage.hosts()).length, 2);
    await stage.pass(6000);
    assert.equal((await stage.hosts()).length, servers.length);
  });

  it('finds what was ordered since, and forgets nothing that is there', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    assert.deepEqual(await stage.hosts(), []);
    const { id } = await stage.order('tuist-pool-1');
    await stage.pass(61_000);
    assert.equal((await stage.host(id)).status?.state, 'pool');
    const { resourceVersion } = (await stage.host(id)).metadata;
    await stage.pass(5 * minute);
    assert.equal((await stage.host(id)).metadata.resourceVersion, resourceVersion, 'nothing new, nothing written');
  });

  it('lists a zone once a minute, however many machines come and go', async (t) => {
    const stage = await createHarness(t);
    await stage.order('tuist-pool-1');
    await stage.start();
    for (const name of ['mac-1', 'mac-2', 'mac-3']) await stage.machine(name);
    await stage.settle();
    assert.equal(lists(stage), 1);
    await stage.pass(3 * minute);
    assert.equal(lists(stage), 4);
  });

  it('lists the zones of machines too, for as long as they are there', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.machine('mac-1', undefined, { zone: 'fr-par-3' });
    await stage.settle();
    assert.equal(lists(stage, 'fr-par-3'), 1);
    await stage.client.delete(machine.resource, { name: 'mac-1', namespace });
    await stage.pass(3 * minute);
    assert.equal(lists(stage, 'fr-par-3'), 1);
    await stage.machine('mac-2', undefined, { zone: 'fr-par-3' });
    await stage.settle();
    assert.equal(lists(stage, 'fr-par-3'), 2);
  });

  it('counts lists that failed, more and more seldom, and loses no MacHost by them', async (t) => {
    const stage = await createHarness(t);
    const { id } = await stage.order('tuist-pool-1');
    await stage.start();
    stage.scaleway.faults.calls.push({ match: /servers$/, times: 1000, with: { status: 401, body: {} } });
    await stage.pass(30 * minute);
    assert.ok(stage.listFailures.length >= 8 && stage.listFailures.length <= 15, `${stage.listFailures.length}`);
    assert.equal((await stage.host(id)).status?.state, 'pool');
  });

  it('counts them in a metric', async () => {
    const registry = new Registry();
    const failed = createZoneListErrorCounter(registry);
    failed(zone);
    failed(zone);
    assert.match(await registry.metrics(), /scaleway_zone_list_errors_total\{zone="fr-par-1"\} 2/);
  });
});
