import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createHarness } from './testing/harness.ts';

const minute = 60_000;
const hour = 60 * minute;

/** All kinds of refusals; each Mac has one of them. */
const answers = [
  { status: 423, body: { type: 'locked', resource: 'server' } },
  { status: 409, body: { type: 'transient_state', current_state: 'updating' } },
  { status: 400, body: { type: 'invalid_arguments', details: [] } },
  { status: 403, body: { type: 'permissions_denied', details: [] } },
  { status: 404, body: { type: 'not_found', resource: 'server' } },
  { status: 429, body: { type: 'too_many_requests' } },
  { status: 503, body: {} },
  { status: 200, body: { nonsense: true } },
];

describe('fifty Macs that cannot be wiped', () => {
  it('use less than a tenth of the API rate limit, in the worst hour and over a day', async (t) => {
    const harness = await createHarness(t);
    const servers: { id: string }[] = [];
    for (let number = 0; number < 50; number += 1) servers.push(await harness.order(`mac-${number}`));
    await harness.start();
    for (const [number, { id }] of servers.entries()) {
      const answer = answers[number % answers.length];
      assert.ok(answer);
      harness.scaleway.faults.calls.push({
        match: new RegExp(`${id}/reinstall$`),
        times: Number.MAX_SAFE_INTEGER,
        with: answer,
      });
    }
    const started = harness.scaleway.requests.length;
    for (const { id } of servers) await harness.release(id);
    await harness.pass(hour, minute);
    const inAnHour = harness.scaleway.requests.length - started;
    await harness.pass(23 * hour, 10 * minute);
    const inADay = harness.scaleway.requests.length - started;
    // 10 a second, of all calls with a key.
    const allowed = 10 * 3600;
    t.diagnostic(`50 Macs: ${inAnHour} calls in the first hour, ${inADay} in a day, of ${allowed} an hour`);
    assert.ok(inAnHour < allowed / 10, `${inAnHour} calls in the first hour`);
    assert.ok(inADay < (allowed * 24) / 10, `${inADay} calls in a day`);
    for (const { status } of await harness.hosts()) assert.equal(status?.state, 'quarantined');
  });
});

const second = 1000;

/** So many Macs, named like this, are stuck while five are claimed, one after the other. `rate`: requests a second. */
const claimBeside = async (
  t: TestContext,
  { count, named, rate }: { readonly count: number; readonly named: string; readonly rate: number },
  stick: (harness: Awaited<ReturnType<typeof createHarness>>, ids: readonly string[]) => Promise<void>,
) => {
  const step = 100;
  const harness = await createHarness(t);
  const stuck: string[] = [];
  for (let number = 0; number < count; number += 1) stuck.push((await harness.order(`${named}-${number}`)).id);
  const free: { id: string }[] = [];
  for (let number = 0; number < 5; number += 1) free.push(await harness.order(`tuist-pool-${number}`));
  await harness.start({ rate });
  await harness.pass(10 * second, second);
  await stick(harness, stuck);
  await harness.pass(30 * second, step);
  harness.waits.length = 0;

  /** How long each claim takes until its Mac has the name of the machine, with all its requests. */
  const claims: number[] = [];
  for (const [number, { id }] of free.entries()) {
    const started = harness.clock.now();
    await harness.take(id, await harness.machine(`claimed-${number}`, id));
    const isNamed = (): boolean =>
      harness.scaleway.servers().find((server) => server.id === id)?.name === `claimed-${number}`;
    while (!isNamed() && harness.clock.now() - started < 60 * second) await harness.pass(step, step);
    claims.push(harness.clock.now() - started);
    await harness.pass(10 * second, step);
  }
  const lists = harness.waits.filter(({ operation }) => operation === 'listServers');
  const list = Math.max(...lists.map(({ milliseconds }) => milliseconds));
  const claim = Math.max(...claims);
  t.diagnostic(`${count} stuck Macs: a list waited for ${list} ms at most, a claim took ${claim} ms at most`);
  assert.ok(harness.waits.length > 100, 'the rate limit was reached');
  // A request waits for one request of each flow, and there are three. A claim is two reads and a rename.
  const longestWait = (3 * second) / rate;
  assert.ok(list <= longestWait, `a page of a list waited for ${list} ms`);
  assert.ok(claim <= 3 * longestWait, `a claim took ${claim} ms`);
};
const locked = { status: 423, body: { type: 'locked', resource: 'server' } };

describe('many Macs that Scaleway refuses to change delay neither claims nor lists: flows take turns at the rate limit', () => {
  it('five hundred that cannot be wiped', (t) =>
    claimBeside(t, { count: 500, named: 'mac', rate: 10 }, async ({ scaleway, release }, ids) => {
      scaleway.faults.calls.push({ match: /reinstall$/, times: Number.MAX_SAFE_INTEGER, with: locked });
      for (const id of ids) await release(id);
    }));

  it('a hundred that cannot be renamed for their machines', (t) =>
    claimBeside(t, { count: 100, named: 'tuist-pool-old', rate: 2 }, async ({ scaleway, machine, take, pass }, ids) => {
      const match = new RegExp(`PATCH .*(${ids.join('|')})`);
      scaleway.faults.calls.push({ match, times: Number.MAX_SAFE_INTEGER, with: locked });
      for (const [number, id] of ids.entries()) await take(id, await machine(`held-${number}`, id));
      // The first attempt of each is a claim: three requests, by half of the rate.
      await pass(300 * second, second);
    }));
});
