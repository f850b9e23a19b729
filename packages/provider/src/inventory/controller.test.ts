import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machine, macHost } from '@tartan/api';
import { Registry } from 'prom-client';
import { createHarness, namespace, zone } from '../mac-host/testing/harness.ts';
import { createZoneListErrorCounter } from '../manager/provider-metrics.ts';

const minute = 60_000;
type Harness = Awaited<ReturnType<typeof createHarness>>;

const deleteAll = async ({ client, hosts }: Harness): Promise<void> => {
  for (const { metadata } of await hosts()) await client.delete(macHost.resource, { name: metadata.name });
};
const lists = ({ scaleway }: Harness, of = zone): number =>
  scaleway.requests.filter((request) => request.includes(`/zones/${of}/servers?`)).length;

describe('the inventory', () => {
  it('is built from server names alone, and rebuilt after all MacHosts were deleted', async (t) => {
    const harness = await createHarness(t);
    const pooled = await harness.order('tuist-pool-1');
    const held = await harness.order('mac-1');
    const releasing = await harness.order('tuist-releasing-other-pool-00000001');
    const stranger = await harness.order('somebody');
    const mac = await harness.machine('mac-1', held.id);
    await harness.start({ pools: ['other-pool-'] });
    const look = async () =>
      Promise.all(
        [pooled, held, releasing, stranger].map(async ({ id }) => {
          const { spec, status } = await harness.host(id);
          return [status?.state, spec.consumerRef?.uid ?? '', spec.release?.poolPrefix ?? ''].join(' ').trim();
        }),
      );
    const expected = ['pool', `held ${mac.metadata.uid}`, 'releasing  other-pool-', 'stranded'];
    assert.deepEqual(await look(), expected);
    await deleteAll(harness);
    await harness.pass(2000);
    assert.deepEqual(await look(), expected);
    assert.equal((await harness.host(held.id)).spec.poolPrefix, 'tuist-pool-');
    assert.equal(held.name, 'mac-1');
  });

  it('finds a machine that no cache has seen yet', async (t) => {
    const harness = await createHarness(t);
    const { id } = await harness.order('tuist-pool-1');
    await harness.machine('mac-1', id);
    await harness.start({ inventory: 'blind to machines' });
    assert.equal((await harness.host(id)).spec.consumerRef?.name, 'mac-1');
  });

  it('continues when one MacHost cannot be created', async (t) => {
    const harness = await createHarness(t);
    const servers = await Promise.all(
      ['tuist-pool-1', 'tuist-pool-2', 'tuist-pool-3'].map((name) => harness.order(name)),
    );
    let refusals = 1;
    harness.interpose((send) => async (request) => {
      if (request.method === 'POST' && request.path.includes('/machosts') && refusals-- > 0)
        throw new Error('not this one');
      return send(request);
    });
    await harness.start();
    assert.equal((await harness.hosts()).length, 2);
    await harness.pass(6000);
    assert.equal((await harness.hosts()).length, servers.length);
  });

  it('finds newly ordered servers, and keeps all others', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    assert.deepEqual(await harness.hosts(), []);
    const { id } = await harness.order('tuist-pool-1');
    await harness.pass(61_000);
    assert.equal((await harness.host(id)).status?.state, 'pool');
    const { resourceVersion } = (await harness.host(id)).metadata;
    await harness.pass(5 * minute);
    assert.equal((await harness.host(id)).metadata.resourceVersion, resourceVersion, 'nothing new, nothing written');
  });

  it('lists a zone once a minute, however many machines come and go', async (t) => {
    const harness = await createHarness(t);
    await harness.order('tuist-pool-1');
    await harness.start();
    for (const name of ['mac-1', 'mac-2', 'mac-3']) await harness.machine(name);
    await harness.settle();
    assert.equal(lists(harness), 1);
    await harness.pass(3 * minute);
    assert.equal(lists(harness), 4);
  });

  it('also lists the zones of machines, as long as they exist', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.machine('mac-1', undefined, { zone: 'fr-par-3' });
    await harness.settle();
    assert.equal(lists(harness, 'fr-par-3'), 1);
    await harness.client.delete(machine.resource, { name: 'mac-1', namespace });
    await harness.pass(3 * minute);
    assert.equal(lists(harness, 'fr-par-3'), 1);
    await harness.machine('mac-2', undefined, { zone: 'fr-par-3' });
    await harness.settle();
    assert.equal(lists(harness, 'fr-par-3'), 2);
  });

  it('backs off after failed lists, and loses no MacHost', async (t) => {
    const harness = await createHarness(t);
    const { id } = await harness.order('tuist-pool-1');
    await harness.start();
    harness.scaleway.faults.calls.push({ match: /servers$/, times: 1000, with: { status: 401, body: {} } });
    await harness.pass(30 * minute);
    assert.ok(harness.listFailures.length >= 8 && harness.listFailures.length <= 15, `${harness.listFailures.length}`);
    assert.equal((await harness.host(id)).status?.state, 'pool');
  });

  it('counts failed lists in a metric', async () => {
    const registry = new Registry();
    const failed = createZoneListErrorCounter(registry);
    failed(zone);
    failed(zone);
    assert.match(await registry.metrics(), /scaleway_zone_list_errors_total\{zone="fr-par-1"\} 2/);
  });
});
