import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { macHost } from '@tartan/api';
import { getCondition } from '@tartan/kube';
import { createHarness, zone } from './testing/harness.ts';

const minute = 60_000;

describe('a manager that does not lead', () => {
  it('does nothing, nor do two of them', async (t) => {
    const stage = await createHarness(t);
    const names = ['tuist-pool-1', 'tuist-pool-2', 'tuist-pool-3'];
    const [held, released, rebooted] = await Promise.all(names.map((name) => stage.order(name)));
    assert.ok(held && released && rebooted);
    const lost = randomUUID();
    await stage.client.create(macHost.resource, macHost.make({ metadata: { name: lost }, spec: { zone } }));
    stage.gate.isOpen = false;
    // A refusal by Scaleway is not recorded either.
    stage.scaleway.faults.calls.push({ match: new RegExp(`GET .*${released.id}`), times: 3, with: { status: 401 } });
    await stage.start();
    await stage.start();
    await stage.take(held.id, await stage.machine('mac-1', held.id));
    await stage.release(released.id);
    const third = await stage.machine('tuist-pool-3', rebooted.id);
    await stage.take(rebooted.id, third);
    await stage.patchSpec(rebooted.id, { reboot: { requestedAt: new Date(stage.clock.now()).toISOString() } });
    await stage.pass(5 * minute);
    assert.deepEqual([...new Set(stage.calls())], ['GET']);
    for (const { status } of await stage.hosts()) assert.equal(status, undefined);
    assert.ok(await stage.hostIfAny(lost));
    stage.gate.isOpen = true;
    await stage.pass(minute);
    assert.equal(held.name, 'mac-1');
    assert.equal(rebooted.status, 'rebooting');
    // Both rename the released Mac, each to another name: the loser waits for two minutes.
    await stage.pass(2 * minute);
    assert.ok(stage.calls().includes('POST reinstall'));
    assert.equal(await stage.hostIfAny(lost), undefined);
  });
});

describe('two managers that both believe to lead', () => {
  it('wipe a Mac once and restart a Mac once', async (t) => {
    const stage = await createHarness(t);
    const [released, rebooted] = [await stage.order('mac-9'), await stage.order('mac-1')];
    await stage.start();
    await stage.start({ inventory: false });
    const machine = await stage.machine('mac-1', rebooted.id);
    await stage.take(rebooted.id, machine);
    await stage.patchSpec(rebooted.id, { reboot: { requestedAt: new Date(stage.clock.now()).toISOString() } });
    await stage.release(released.id);
    await stage.pass(12 * minute);
    const posts = stage.calls().filter((call) => call.startsWith('POST'));
    assert.deepEqual(posts.toSorted(), ['POST reboot', 'POST reinstall']);
    assert.equal((await stage.host(released.id)).status?.state, 'pool');
  });
});

describe('a server that is gone', () => {
  const gone = (stage: Awaited<ReturnType<typeof createHarness>>, id: string) => {
    const denied = { type: 'not_found', resource: 'server', resource_id: id };
    stage.scaleway.faults.calls.push({ match: new RegExp(id), times: 1000, with: { status: 404, body: denied } });
  };

  it('takes its MacHost with it', async (t) => {
    const stage = await createHarness(t);
    await stage.order('tuist-pool-1');
    const id = randomUUID();
    await stage.client.create(macHost.resource, macHost.make({ metadata: { name: id }, spec: { zone } }));
    await stage.start();
    await stage.pass(2 * minute);
    assert.equal(await stage.hostIfAny(id), undefined);
    assert.equal((await stage.hosts()).length, 1);
  });

  it('is asked for before that: one that a list has left out stays', async (t) => {
    const stage = await createHarness(t);
    const { id } = await stage.order('tuist-pool-1');
    await stage.start();
    stage.calls();
    const empty = { status: 200, body: { total_count: 0, servers: [] } };
    stage.scaleway.faults.calls.push({ match: /servers$/, times: 1, with: empty });
    await stage.pass(61_000);
    assert.deepEqual(stage.calls(), ['GET']);
    const { status } = await stage.host(id);
    assert.equal(status?.state, 'pool');
    assert.equal(await stage.reason(id, 'Listed'), 'Listed');
  });

  it('is reported to the machine that holds it, and forgotten when that is gone', async (t) => {
    const stage = await createHarness(t);
    const { id } = await stage.order('mac-1');
    await stage.start();
    await stage.take(id, await stage.machine('mac-1', id));
    await stage.pass(1000);
    gone(stage, id);
    const empty = { status: 200, body: { total_count: 0, servers: [] } };
    stage.scaleway.faults.calls.push({ match: /servers$/, times: 1000, with: empty });
    await stage.pass(2 * minute);
    assert.equal(await stage.reason(id, 'Listed'), 'Gone');
    assert.equal((await stage.host(id)).status?.state, 'held');
    await stage.deleteMachine('mac-1');
    await stage.pass(1000);
    assert.equal(await stage.hostIfAny(id), undefined);
  });
});

describe('a zone that cannot be listed', () => {
  it('leaves everything as it was, and says so', async (t) => {
    const stage = await createHarness(t);
    const { id } = await stage.order('tuist-pool-1');
    await stage.start();
    const before = (await stage.host(id)).status;
    assert.equal(before?.state, 'pool');
    stage.scaleway.faults.calls.push({ match: /servers$/, times: 10_000, with: { status: 403, body: {} } });
    await stage.pass(20 * minute);
    const after = (await stage.host(id)).status;
    assert.deepEqual(
      [after?.state, after?.since, after?.name, after?.serverStatus],
      [before.state, before.since, before.name, before.serverStatus],
    );
    const listed = getCondition(after?.conditions, 'Listed');
    assert.deepEqual([listed?.status, listed?.reason], ['Unknown', 'ZoneNotListed']);
    assert.match(listed?.message ?? '', /AppleSiliconFullAccess/);
    assert.ok(stage.listFailures.length > 2 && stage.listFailures.length < 20, `${stage.listFailures.length} lists`);
    stage.scaleway.faults.calls.length = 0;
    await stage.pass(6 * minute);
    assert.equal(await stage.reason(id, 'Listed'), 'Listed');
  });
});

describe('a Mac that is nobody’s', () => {
  it('is in the pool, about to be taken, or stranded: neither a name nor a pool that a machine says makes it more', async (t) => {
    const stage = await createHarness(t);
    const named = {
      pool: await stage.order('tuist-pool-1'),
      other: await stage.order('other-pool-1'),
      foreign: await stage.order('their-pool-1'),
      called: await stage.order('mac-1'),
      reserved: await stage.order('foreign-1'),
      pending: await stage.order('tuist-claim-pending-1'),
      stranger: await stage.order('foreign-2'),
    };
    await stage.machine('mac-1', undefined, { adoptPoolPrefix: 'their-pool-' });
    await stage.start({ pools: ['other-pool-'] });
    await stage.machine('mac-2', named.reserved.id);
    await stage.pass(1000);
    const seen = await Promise.all(
      Object.values(named).map(async ({ id }) => {
        const { status } = await stage.host(id);
        return [status?.state, status?.heldBy ?? ''].join(' ').trim();
      }),
    );
    assert.deepEqual(seen, ['pool', 'pool', 'stranded', 'stranded', 'held fleet/mac-2', 'stranded', 'stranded']);
    assert.equal(await stage.reason(named.pool.id, 'Wiped'), 'NotSeen');
    assert.equal(await stage.reason(named.stranger.id, 'Stranded'), 'ReportOnly');
    assert.equal(await stage.reason(named.pool.id, 'Stranded'), 'Accounted');
  });

  it('shows what Scaleway says of it, and never its password', async (t) => {
    const stage = await createHarness(t);
    const { id } = await stage.order('tuist-pool-1', { type: 'M4-M', family: 'Sequoia' });
    await stage.start();
    const { status } = await stage.host(id);
    assert.deepEqual(
      [status?.type, status?.osFamily, status?.osImage, status?.serverStatus, status?.ip],
      ['M4-M', 'Sequoia', 'macos-sequoia-15.3.1', 'ready', '198.18.0.0'],
    );
    const password = (await stage.pool.getServer(zone, id)).password?.reveal() ?? '';
    assert.ok(password !== '' && !JSON.stringify(await stage.host(id)).includes(password));
    assert.ok(!stage.lines.join('\n').includes(password));
  });
});
