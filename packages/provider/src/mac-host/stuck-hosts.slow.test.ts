import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
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

describe('five hundred Macs that cannot be wiped', () => {
  it('delay neither claims nor lists: flows take turns at the rate limit', async (t) => {
    const second = 1000;
    const step = 100;
    const harness = await createHarness(t);
    const stuck: { id: string }[] = [];
    for (let number = 0; number < 500; number += 1) stuck.push(await harness.order(`mac-${number}`));
    const free: { id: string }[] = [];
    for (let number = 0; number < 5; number += 1) free.push(await harness.order(`tuist-pool-${number}`));
    harness.scaleway.faults.calls.push({
      match: /reinstall$/,
      times: Number.MAX_SAFE_INTEGER,
      with: { status: 423, body: { type: 'locked', resource: 'server' } },
    });
    await harness.start({ rate: 10 });
    await harness.pass(10 * second, second);
    for (const { id } of stuck) await harness.release(id);
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
    const waitsOf = (isOne: (operation: string) => boolean): number[] =>
      harness.waits.filter(({ operation }) => isOne(operation)).map(({ milliseconds }) => milliseconds);
    const longest = {
      claim: Math.max(...claims),
      list: Math.max(...waitsOf((operation) => operation === 'listServers')),
      release: Math.max(...waitsOf((operation) => operation === 'reinstall' || operation === 'rename')),
    };
    t.diagnostic(`500 stuck Macs: longest waits in ms ${JSON.stringify(longest)}`);
    // A request waits for one request of each other flow: 3 flows, 10 requests a second.
    assert.ok(longest.list <= 300, `a page of a list waited for ${longest.list} ms`);
    // Two reads and a rename, each after such a wait, and each in a step of this test.
    assert.ok(longest.claim <= 2 * second, `a claim took ${longest.claim} ms`);
    assert.ok(waitsOf(() => true).length > 300, 'the rate limit was reached');
  });
});
