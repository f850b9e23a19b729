import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { getCondition } from '@tartan/kube';
import { createHarness } from './testing/harness.ts';

/** A Mac in the pool and a machine that has reserved it. */
const setUp = async (t: TestContext, { type = 'M2-L' } = {}) => {
  const harness = await createHarness(t);
  const server = await harness.order('tuist-pool-1');
  const running = await harness.start();
  const machine = await harness.machine('mac-1', server.id, { type });
  await harness.settle();
  harness.calls();
  const message = async (condition: string) =>
    getCondition((await harness.host(server.id)).status?.conditions, condition)?.message ?? '';
  const take = () => harness.take(server.id, machine);
  return { ...harness, server, id: server.id, machineNamed: harness.machine, running, message, take };
};

describe('the name of a held Mac', () => {
  it('is set with read, rename and read, and confirmed by one more read', async (t) => {
    const { id, take, pass, calls, host, reason, eventReasons } = await setUp(t);
    await take();
    await pass(10_000);
    assert.deepEqual(calls(), ['GET', 'PATCH', 'GET']);
    assert.equal(await reason(id, 'Named'), 'RenamePending');
    await pass(120_000);
    assert.deepEqual(calls(), ['GET']);
    const { status } = await host(id);
    assert.deepEqual([status?.state, status?.name, status?.heldBy], ['held', 'mac-1', 'fleet/mac-1']);
    assert.equal(await reason(id, 'Named'), 'NameMatches');
    assert.equal(await reason(id, 'Wiped'), 'InUse');
    assert.deepEqual(eventReasons, ['Claimed']);
  });

  it('costs one read when it is already correct', async (t) => {
    const { id, server, take, pass, calls, reason } = await setUp(t);
    server.name = 'mac-1';
    await pass(61_000);
    await take();
    await pass(61_000);
    assert.deepEqual(calls(), ['GET']);
    assert.equal(await reason(id, 'Named'), 'NameMatches');
  });

  it('is set without a list of the zone', async (t) => {
    const { id, take, pass, calls, scaleway, running, start, host } = await setUp(t);
    await running.stop();
    scaleway.faults.calls.push({ match: /servers$/, times: 99, with: { status: 403, body: {} } });
    await take();
    await start();
    await pass(1000);
    assert.deepEqual(calls(), ['GET', 'PATCH', 'GET']);
    assert.equal((await host(id)).status?.name, 'mac-1');
  });

  it('is restored on a provisioned Mac after a person changed it', async (t) => {
    const { server, take, pass, eventReasons, provision } = await setUp(t);
    await take();
    await pass(1000);
    await provision('mac-1');
    server.name = 'by hand';
    await pass(61_000);
    assert.equal(server.name, 'mac-1');
    assert.deepEqual(eventReasons, ['Claimed', 'NameRepaired']);
  });

  it('is not set on a Mac that somebody else took from the pool meanwhile: the claim ends', async (t) => {
    const { id, server, take, pass, calls, eventReasons, host } = await setUp(t);
    server.name = 'mac-of-another-cluster';
    await take();
    await pass(120_000);
    assert.equal(server.name, 'mac-of-another-cluster');
    assert.deepEqual(calls(), ['GET'], 'neither renamed nor wiped');
    const { spec, status } = await host(id);
    assert.deepEqual([spec.consumerRef, spec.release], [undefined, undefined]);
    assert.equal(status?.state, 'held', 'its machine still holds it');
    assert.deepEqual(eventReasons, ['TakenByOthers']);
  });

  it('is not restored before the Mac is provisioned: the claim ends, and the rename is reported', async (t) => {
    const { id, server, take, pass, calls, host, reason, deleteMachine, eventReasons } = await setUp(t);
    await take();
    await pass(61_000);
    calls();
    server.name = 'mac-of-another-cluster';
    await pass(61_000);
    assert.equal((await host(id)).spec.consumerRef, undefined);
    await deleteMachine('mac-1');
    await pass(61_000);
    assert.equal((await host(id)).status?.state, 'stranded');
    assert.equal(await reason(id, 'Stranded'), 'ReportOnly');
    assert.equal(server.name, 'mac-of-another-cluster');
    assert.ok(calls().every((call) => call === 'GET'));
    assert.deepEqual(eventReasons, ['Claimed', 'TakenByOthers']);
  });

  it('is confirmed anew after the Mac was back under a pool name', async (t) => {
    const { id, server, take, pass, reason } = await setUp(t);
    await take();
    await pass(10_000);
    server.name = 'tuist-pool-2';
    await pass(15_000);
    assert.equal(server.name, 'mac-1');
    assert.equal(await reason(id, 'Named'), 'RenamePending');
    await pass(30_000);
    assert.equal(await reason(id, 'Named'), 'NameMatches');
  });

  it('is recognised after a lost response', async (t) => {
    const { id, server, scaleway, take, pass, reason } = await setUp(t);
    scaleway.faults.calls.push({ match: /PATCH/, times: 4, with: 'lost' });
    await take();
    await pass(120_000, 1000);
    assert.equal(server.name, 'mac-1');
    assert.equal(await reason(id, 'Named'), 'NameMatches');
  });

  it('is retried when Scaleway refuses it, and the condition says why', async (t) => {
    const { id, server, scaleway, take, pass, reason, message, settle } = await setUp(t);
    const body = { type: 'transient_state', resource: 'server', resource_id: id, current_state: 'updating' };
    scaleway.faults.calls.push({ match: /PATCH/, times: 1, with: { status: 409, body } });
    await take();
    await settle();
    assert.equal(await reason(id, 'Named'), 'RenameRefused');
    assert.match(await message('Named'), /updating/);
    await pass(40_000);
    assert.equal(server.name, 'mac-1');
    assert.equal(await reason(id, 'Named'), 'NameMatches');
  });

  it('is reported with the missing permission set', async (t) => {
    const { scaleway, take, pass, message, server } = await setUp(t);
    const body = { type: 'permissions_denied', details: [{ action: 'update', resource: 'server' }] };
    scaleway.faults.calls.push({ match: /PATCH/, times: 1, with: { status: 403, body } });
    await take();
    await pass(1000);
    assert.match(await message('Named'), /AppleSiliconFullAccess/);
    await pass(10_000);
    assert.equal(server.name, 'mac-1');
  });

  it('is set when the server is ready', async (t) => {
    const { id, server, take, pass, reason, message, calls } = await setUp(t);
    server.status = 'reinstalling';
    await take();
    await pass(5000);
    assert.equal(server.name, 'tuist-pool-1');
    assert.equal(await reason(id, 'Named'), 'RenamePending');
    assert.match(await message('Named'), /reinstalling/);
    server.status = 'ready';
    await pass(10_000);
    assert.equal(server.name, 'mac-1');
    assert.ok(!calls().includes('POST reinstall'));
  });

  it('is not set on a Mac of another type', async (t) => {
    const { id, server, take, pass, reason, message } = await setUp(t, { type: 'M4-M' });
    await take();
    await pass(60_000);
    assert.equal(server.name, 'tuist-pool-1');
    assert.equal(await reason(id, 'Named'), 'RenameRefused');
    assert.match(await message('Named'), /M4-M/);
  });

  it('is not set twice in one reconcile: a later reconcile corrects a concurrent rename', async (t) => {
    const { server, take, settle, calls, pass, provision } = await setUp(t);
    await provision('mac-1');
    await settle();
    let theirs = 2;
    Object.defineProperty(server, 'name', {
      get: () => (theirs > 0 ? 'theirs' : 'mac-1'),
      set: () => {
        theirs -= 1;
      },
    });
    await take();
    await settle();
    assert.deepEqual(calls(), ['GET', 'PATCH', 'GET']);
    await pass(30_000);
    assert.equal(server.name, 'mac-1');
    assert.deepEqual(calls(), ['GET', 'PATCH', 'GET']);
  });
});

describe('the holder of a Mac', () => {
  it('that is gone leaves the Mac stranded, and the Mac is never wiped', async (t) => {
    const { id, server, take, pass, deleteMachine, host, reason, calls } = await setUp(t);
    await take();
    await pass(1000);
    calls();
    await deleteMachine('mac-1');
    await pass(30 * 60_000, 60_000);
    const { status } = await host(id);
    assert.deepEqual([status?.state, status?.heldBy], ['stranded', undefined]);
    assert.equal(await reason(id, 'Stranded'), 'ReportOnly');
    assert.equal(server.installs, 0);
    assert.deepEqual(calls(), []);
  });

  it('that was recreated with the same name is another holder', async (t) => {
    const { id, take, pass, deleteMachine, machineNamed, host } = await setUp(t);
    await take();
    await pass(1000);
    await deleteMachine('mac-1');
    await machineNamed('mac-1', id);
    await pass(1000);
    assert.equal((await host(id)).status?.state, 'stranded');
  });

  it('that has another server leaves the Mac stranded; a holder without a server does not', async (t) => {
    const harness = await createHarness(t);
    const [first, second] = [await harness.order('tuist-pool-1'), await harness.order('tuist-pool-2')];
    await harness.start();
    const elsewhere = await harness.machine('mac-1', second.id);
    const claiming = await harness.machine('mac-2');
    await harness.take(first.id, elsewhere);
    await harness.take(second.id, claiming);
    await harness.pass(1000);
    assert.equal((await harness.host(first.id)).status?.state, 'stranded');
    assert.equal(first.name, 'tuist-pool-1');
    assert.equal((await harness.host(second.id)).status?.state, 'held');
    assert.equal(second.name, 'mac-2');
  });

  it('of an unknown kind is left alone', async (t) => {
    const { id, server, patchSpec, pass, host } = await setUp(t);
    const consumerRef = { apiVersion: 'example.com/v1', kind: 'Desk', namespace: 'x', name: 'desk-1', uid: 'u' };
    await patchSpec(id, { consumerRef });
    await pass(120_000);
    assert.equal((await host(id)).status?.state, 'held');
    assert.equal(server.name, 'tuist-pool-1');
  });
});

describe('a restart', () => {
  const ask = (now: number) => ({ reboot: { requestedAt: new Date(now).toISOString() } });
  const reboots = (calls: readonly string[]) => calls.filter((call) => call === 'POST reboot').length;

  it('on request happens once, however often the host is reconciled', async (t) => {
    const { id, server, take, pass, patchSpec, clock, calls, host } = await setUp(t);
    await take();
    await pass(60_000);
    clock.advance(500);
    await patchSpec(id, ask(clock.now()));
    await pass(1000);
    assert.equal(server.status, 'rebooting');
    await pass(10 * 60_000, 30_000);
    assert.equal(reboots(calls()), 1);
    assert.ok((await host(id)).status?.rebootIssuedAt);
    await patchSpec(id, ask(clock.now()));
    await pass(1000);
    assert.equal(reboots(calls()), 1);
  });

  it('refused by Scaleway is retried', async (t) => {
    const { id, server, scaleway, take, pass, patchSpec, clock, calls, eventReasons, host } = await setUp(t);
    await take();
    await pass(60_000);
    const body = { type: 'transient_state', resource: 'server', resource_id: id, current_state: 'updating' };
    scaleway.faults.calls.push({ match: /reboot$/, times: 1, with: { status: 409, body } });
    await patchSpec(id, ask(clock.now()));
    await pass(1000);
    assert.equal((await host(id)).status?.rebootIssuedAt, undefined);
    assert.ok(eventReasons.includes('RebootForRecoveryFailed'));
    await pass(15_000);
    assert.equal(server.status, 'rebooting');
    assert.equal(reboots(calls()), 2);
  });

  it('with a lost response counts as done', async (t) => {
    const { id, scaleway, take, pass, patchSpec, clock, calls } = await setUp(t);
    await take();
    await pass(60_000);
    scaleway.faults.calls.push({ match: /reboot$/, times: 1, with: 'lost' });
    await patchSpec(id, ask(clock.now()));
    await pass(10 * 60_000, 30_000);
    assert.equal(reboots(calls()), 1);
  });
});
