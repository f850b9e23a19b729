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
