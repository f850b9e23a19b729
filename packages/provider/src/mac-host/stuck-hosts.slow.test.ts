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

describe('Macs that cannot be wiped', () => {
  it('take less than a tenth of the calls that are allowed when there are fifty, in the worst hour and over a day', async (t) => {
    const stage = await createHarness(t);
    const servers: { id: string }[] = [];
    for (let number = 0; number < 50; number += 1) servers.push(await stage.order(`mac-${number}`));
    await stage.start();
    for (const [number, { id }] of servers.entries()) {
      const answer = answers[number % answers.length];
      assert.ok(answer);
      stage.scaleway.faults.calls.push({
        match: new RegExp(`${id}/reinstall$`),
        times: Number.MAX_SAFE_INTEGER,
        with: answer,
      });
    }
    const started = stage.scaleway.requests.length;
    for (const { id } of servers) await stage.release(id);
    await stage.pass(hour, minute);
    const inAnHour = stage.scaleway.requests.length - started;
    await stage.pass(23 * hour, 10 * minute);
    const inADay = stage.scaleway.requests.length - started;
    // 10 a second, of all calls with a key.
    const allowed = 10 * 3600;
    t.diagnostic(`50 Macs: ${inAnHour} calls in the first hour, ${inADay} in a day, of ${allowed} an hour`);
    assert.ok(inAnHour < allowed / 10, `${inAnHour} calls in the first hour`);
    assert.ok(inADay < (allowed * 24) / 10, `${inADay} calls in a day`);
    for (const { status } of await stage.hosts()) assert.equal(status?.state, 'quarantined');
  });
});
