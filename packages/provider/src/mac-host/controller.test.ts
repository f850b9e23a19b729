import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { machine, macHost } from '@tartan/api';
import { getCondition } from '@tartan/kube';
import { createHarness, namespace, zone } from './testing/harness.ts';

const minute = 60_000;

describe('a manager that does not lead', () => {
  it('does nothing, nor do two of them', async (t) => {
    const harness = await createHarness(t);
    const names = ['tuist-pool-1', 'tuist-pool-2', 'tuist-pool-3'];
    const [held, released, rebooted] = await Promise.all(names.map((name) => harness.order(name)));
    assert.ok(held && released && rebooted);
    const lost = randomUUID();
    await harness.client.create(macHost.resource, macHost.make({ metadata: { name: lost }, spec: { zone } }));
    harness.gate.isOpen = false;
    // A refusal by Scaleway is not recorded either.
    harness.scaleway.faults.calls.push({ match: new RegExp(`GET .*${released.id}`), times: 3, with: { status: 401 } });
    await harness.start();
    await harness.start();
    await harness.take(held.id, await harness.machine('mac-1', held.id));
    await harness.release(released.id);
    const third = await harness.machine('tuist-pool-3', rebooted.id);
    await harness.take(rebooted.id, third);
    await harness.patchSpec(rebooted.id, { reboot: { requestedAt: new Date(harness.clock.now()).toISOString() } });
    await harness.pass(5 * minute);
    assert.deepEqual([...new Set(harness.calls())], ['GET']);
    for (const { status } of await harness.hosts()) assert.equal(status, undefined);
    assert.ok(await harness.hostIfAny(lost));
    harness.gate.isOpen = true;
    await harness.pass(minute);
    assert.equal(held.name, 'mac-1');
    assert.equal(rebooted.status, 'rebooting');
    // Both rename the released Mac, each to another name: the loser waits for two minutes.
    await harness.pass(2 * minute);
    assert.ok(harness.calls().includes('POST reinstall'));
    assert.equal(await harness.hostIfAny(lost), undefined);
  });
});

describe('two managers that both believe they lead', () => {
  it('wipe a Mac once and restart a Mac once', async (t) => {
    const harness = await createHarness(t);
    const [released, rebooted] = [await harness.order('mac-9'), await harness.order('mac-1')];
    await harness.start();
    await harness.start({ inventory: false });
    const machine = await harness.machine('mac-1', rebooted.id);
    await harness.take(rebooted.id, machine);
    await harness.patchSpec(rebooted.id, { reboot: { requestedAt: new Date(harness.clock.now()).toISOString() } });
    await harness.release(released.id);
    await harness.pass(12 * minute);
    const posts = harness.calls().filter((call) => call.startsWith('POST'));
    assert.deepEqual(posts.toSorted(), ['POST reboot', 'POST reinstall']);
    assert.equal((await harness.host(released.id)).status?.state, 'pool');
  });
});

describe('many Macs at once', () => {
  /** Twelve Macs, and how many are asked for at Scaleway at the same time. `hold` keeps the answers back until it resolves. */
  const setUp = async (t: TestContext, hold?: Promise<void>) => {
    const harness = await createHarness(t);
    const servers: Awaited<ReturnType<typeof harness.order>>[] = [];
    for (let index = 0; index < 12; index += 1) servers.push(await harness.order(`tuist-pool-${index}`));
    const asking = { now: 0, most: 0 };
    await harness.start({
      wrapPool: (pool) => ({
        ...pool,
        getServer: async (...args) => {
          asking.most = Math.max(asking.most, ++asking.now);
          try {
            await hold;
            return await pool.getServer(...args);
          } finally {
            asking.now -= 1;
          }
        },
      }),
    });
    const take = () =>
      Promise.all(servers.map(async ({ id }, index) => harness.take(id, await harness.machine(`mac-${index}`, id))));
    return { ...harness, servers, asking, take };
  };

  it('are asked for at Scaleway a few at a time, and all are renamed', async (t) => {
    const { servers, asking, take, pass } = await setUp(t);
    await take();
    await pass(minute);
    assert.deepEqual(
      servers.map(({ name }) => name),
      servers.map((_, index) => `mac-${index}`),
    );
    assert.equal(asking.most, 4);
  });

  it('are released a few at a time, and all are wiped', async (t) => {
    const { servers, asking, pass, release, scaleway } = await setUp(t);
    await Promise.all(servers.map(({ id }) => release(id)));
    await pass(minute);
    assert.equal(scaleway.requests.filter((request) => request.endsWith('/reinstall')).length, 12);
    assert.equal(asking.most, 4);
  });

  it('are renamed too if others that waited before them no longer need it', async (t) => {
    const hold = Promise.withResolvers<void>();
    const { servers, asking, take, pass, settle, client, patchSpec } = await setUp(t, hold.promise);
    await take();
    await settle();
    assert.equal(asking.now, 4);
    const waiting = servers.slice(4);
    for (const { id } of waiting.slice(0, 4)) await patchSpec(id, { consumerRef: null });
    for (let index = 4; index < 8; index += 1)
      await client.delete(machine.resource, { namespace, name: `mac-${index}` });
    await settle();
    hold.resolve();
    await pass(10 * minute);
    assert.deepEqual(
      waiting.slice(4).map(({ name }) => name),
      ['mac-8', 'mac-9', 'mac-10', 'mac-11'],
    );
  });
});

describe('a server that is gone', () => {
  const gone = (harness: Awaited<ReturnType<typeof createHarness>>, id: string) => {
    const denied = { type: 'not_found', resource: 'server', resource_id: id };
    harness.scaleway.faults.calls.push({ match: new RegExp(id), times: 1000, with: { status: 404, body: denied } });
  };

  it('loses its MacHost', async (t) => {
    const harness = await createHarness(t);
    await harness.order('tuist-pool-1');
    const id = randomUUID();
    await harness.client.create(macHost.resource, macHost.make({ metadata: { name: id }, spec: { zone } }));
    await harness.start();
    await harness.pass(2 * minute);
    assert.equal(await harness.hostIfAny(id), undefined);
    assert.equal((await harness.hosts()).length, 1);
  });

  it('is confirmed by a live read: a MacHost missing from a list is kept', async (t) => {
    const harness = await createHarness(t);
    const { id } = await harness.order('tuist-pool-1');
    await harness.start();
    harness.calls();
    const empty = { status: 200, body: { total_count: 0, servers: [] } };
    harness.scaleway.faults.calls.push({ match: /servers$/, times: 1, with: empty });
    await harness.pass(61_000);
    assert.deepEqual(harness.calls(), ['GET']);
    const { status } = await harness.host(id);
    assert.equal(status?.state, 'pool');
    assert.equal(await harness.reason(id, 'Listed'), 'Listed');
  });

  it('is reported to the machine that holds it; its MacHost is deleted after the machine', async (t) => {
    const harness = await createHarness(t);
    const { id } = await harness.order('mac-1');
    await harness.start();
    await harness.take(id, await harness.machine('mac-1', id));
    await harness.pass(1000);
    gone(harness, id);
    const empty = { status: 200, body: { total_count: 0, servers: [] } };
    harness.scaleway.faults.calls.push({ match: /servers$/, times: 1000, with: empty });
    await harness.pass(2 * minute);
    assert.equal(await harness.reason(id, 'Listed'), 'Gone');
    assert.equal((await harness.host(id)).status?.state, 'held');
    await harness.deleteMachine('mac-1');
    await harness.pass(1000);
    assert.equal(await harness.hostIfAny(id), undefined);
  });
});

describe('a zone that cannot be listed', () => {
  it('changes nothing, and is reported in a condition', async (t) => {
    const harness = await createHarness(t);
    const { id } = await harness.order('tuist-pool-1');
    await harness.start();
    const before = (await harness.host(id)).status;
    assert.equal(before?.state, 'pool');
    harness.scaleway.faults.calls.push({ match: /servers$/, times: 10_000, with: { status: 403, body: {} } });
    await harness.pass(20 * minute);
    const after = (await harness.host(id)).status;
    assert.deepEqual(
      [after?.state, after?.since, after?.name, after?.serverStatus],
      [before.state, before.since, before.name, before.serverStatus],
    );
    const listed = getCondition(after?.conditions, 'Listed');
    assert.deepEqual([listed?.status, listed?.reason], ['Unknown', 'ZoneNotListed']);
    assert.match(listed?.message ?? '', /AppleSiliconFullAccess/);
    assert.ok(
      harness.listFailures.length > 2 && harness.listFailures.length < 20,
      `${harness.listFailures.length} lists`,
    );
    harness.scaleway.faults.calls.length = 0;
    await harness.pass(6 * minute);
    assert.equal(await harness.reason(id, 'Listed'), 'Listed');
  });
});

describe('a Mac without a holder', () => {
  it('is in a pool, reserved or stranded; names and pools in machine specs do not change that', async (t) => {
    const harness = await createHarness(t);
    const named = {
      pool: await harness.order('tuist-pool-1'),
      other: await harness.order('other-pool-1'),
      foreign: await harness.order('their-pool-1'),
      called: await harness.order('mac-1'),
      reserved: await harness.order('foreign-1'),
      pending: await harness.order('tuist-claim-pending-1'),
      stranger: await harness.order('foreign-2'),
    };
    await harness.machine('mac-1', undefined, { adoptPoolPrefix: 'their-pool-' });
    await harness.start({ pools: ['other-pool-'] });
    await harness.machine('mac-2', named.reserved.id);
    await harness.pass(1000);
    const seen = await Promise.all(
      Object.values(named).map(async ({ id }) => {
        const { status } = await harness.host(id);
        return [status?.state, status?.heldBy ?? ''].join(' ').trim();
      }),
    );
    assert.deepEqual(seen, ['pool', 'pool', 'stranded', 'stranded', 'held fleet/mac-2', 'stranded', 'stranded']);
    assert.equal(await harness.reason(named.pool.id, 'Wiped'), 'NotSeen');
    assert.equal(await harness.reason(named.stranger.id, 'Stranded'), 'ReportOnly');
    assert.equal(await harness.reason(named.pool.id, 'Stranded'), 'Accounted');
  });

  it('shows the data of Scaleway, and never its password', async (t) => {
    const harness = await createHarness(t);
    const { id } = await harness.order('tuist-pool-1', { type: 'M4-M', family: 'Sequoia' });
    await harness.start();
    const { status } = await harness.host(id);
    assert.deepEqual(
      [status?.type, status?.osFamily, status?.osImage, status?.serverStatus, status?.ip],
      ['M4-M', 'Sequoia', 'macos-sequoia-15.3.1', 'ready', '198.18.0.0'],
    );
    const password = (await harness.pool.getServer(zone, id)).password?.reveal() ?? '';
    assert.ok(password !== '' && !JSON.stringify(await harness.host(id)).includes(password));
    assert.ok(!harness.lines.join('\n').includes(password));
  });
});
