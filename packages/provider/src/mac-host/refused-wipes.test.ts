import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { getCondition } from '@tartan/kube';
import { createHarness } from './testing/harness.ts';

const minute = 60_000;
const hour = 60 * minute;

type Harness = Awaited<ReturnType<typeof createHarness>>;
type Answer = Harness['scaleway']['faults']['calls'][number]['with'] | 'silence';

/** Every kind of failure of a request to Scaleway. */
const ways: Readonly<Record<string, Answer>> = {
  '423 locked': { status: 423, body: { type: 'locked', resource: 'server' } },
  '409 transient state': { status: 409, body: { type: 'transient_state', current_state: 'updating' } },
  '400 invalid': { status: 400, body: { type: 'invalid_arguments', details: [] } },
  '403 denied': { status: 403, body: { type: 'permissions_denied', details: [] } },
  '404 not found': { status: 404, body: { type: 'not_found', resource: 'server' } },
  '429 too many requests': { status: 429, body: { type: 'too_many_requests' } },
  '503 unavailable': { status: 503, body: {} },
  'no connection': 'silence',
  'an unreadable answer': { status: 200, body: { nonsense: true } },
};

const always = Number.MAX_SAFE_INTEGER;

/** From now on matching calls fail like this. */
const answer = ({ scaleway, failConnections }: Harness, match: RegExp, answered: Answer): void => {
  if (answered === 'silence') failConnections(match);
  else scaleway.faults.calls.push({ match, times: always, with: answered });
};
const answerAsUsual = ({ scaleway, failConnections }: Harness): void => {
  failConnections(undefined);
  scaleway.faults.calls.length = 0;
};
const locked = { status: 423, body: { type: 'locked', resource: 'server' } };

const setUp = async (t: TestContext) => {
  const harness = await createHarness(t);
  const server = await harness.order('tuist-pool-1');
  const { id } = server;
  const running = await harness.start();
  await harness.take(id, await harness.machine('mac-1', id));
  await harness.pass(1000);
  const count = (what: RegExp) =>
    [...harness.scaleway.requests, ...harness.silenced].filter((request) => what.test(request)).length;
  const status = async () => (await harness.host(id)).status ?? {};
  return {
    ...harness,
    server,
    id,
    running,
    status,
    wipes: () => count(/reinstall$/),
    lists: () => count(/\/os\?/),
    condition: async (type: string) => getCondition((await status()).conditions, type),
  };
};

describe('a wipe that Scaleway refuses or does not answer', () => {
  for (const [way, answered] of Object.entries(ways))
    it(`${way}: is counted, backs off, leads to quarantine, and ends when Scaleway accepts it`, async (t) => {
      const harness = await setUp(t);
      const { id, release, pass, wipes, lists, status, condition } = harness;
      answer(harness, /reinstall$/, answered);
      await release(id);
      await pass(55 * minute, minute);
      const first = wipes();
      assert.ok(first >= 3 && first <= 6, `${first} requests in the first hour`);
      assert.equal((await status()).wipe?.attempts, first, 'each is counted');
      assert.equal((await status()).state, 'releasing', 'refusals for less than an hour do not quarantine');

      await pass(15 * minute, minute);
      assert.equal((await status()).state, 'quarantined');
      assert.equal((await condition('Quarantined'))?.reason, 'WipeFailed');
      assert.match((await condition('Quarantined'))?.message ?? '', /tuist\.dev\/abandon/);

      const before = wipes();
      await pass(8 * hour, 10 * minute);
      const more = wipes() - before;
      assert.ok(more >= 3 && more <= 5, `${more} requests in eight hours of quarantine`);
      const isAboutTheRequest = way.startsWith('400') || way.startsWith('404');
      assert.ok(lists() <= (isAboutTheRequest ? wipes() : 1), `${lists()} lists of images, ${wipes()} requests`);

      answerAsUsual(harness);
      await pass(3 * hour, 2 * minute);
      const after = await status();
      assert.deepEqual([after.state, after.wipe, after.quarantine], ['pool', undefined, undefined]);
    });

  it('a rename refused during a release is counted, backs off and leads to quarantine as well', async (t) => {
    const { id, scaleway, release, pass, status, condition, wipes, server } = await setUp(t);
    scaleway.faults.calls.push({
      match: /^PATCH/,
      times: always,
      with: locked,
    });
    await release(id);
    const names = () => scaleway.requests.filter((request) => request.startsWith('PATCH')).length;
    const before = names();
    await pass(2 * hour, minute);
    assert.ok(names() - before <= 8, `${names() - before} requests in two hours`);
    assert.equal((await status()).state, 'quarantined');
    assert.equal((await condition('Named'))?.reason, 'RenameRefused');
    assert.equal(wipes(), 0, 'nothing is wiped under the name of a machine');
    scaleway.faults.calls.length = 0;
    await pass(3 * hour, minute);
    assert.equal((await status()).state, 'pool');
    assert.match(server.name, /^tuist-pool-/);
  });

  it('a restarted manager keeps count and back-off', async (t) => {
    const harness = await setUp(t);
    let { running } = harness;
    harness.scaleway.faults.calls.push({ match: /reinstall$/, times: always, with: locked });
    await harness.release(harness.id);
    for (let minutes = 0; minutes < 60; minutes += 1) {
      await running.stop();
      running = await harness.start();
      await harness.pass(minute);
    }
    assert.ok(harness.wipes() <= 8, `${harness.wipes()} requests in an hour of restarts`);
    assert.equal((await harness.status()).wipe?.attempts, harness.wipes());
  });

  it('another release starts at once, without the back-off of the last one', async (t) => {
    const { id, scaleway, release, pass, status, wipes } = await setUp(t);
    scaleway.faults.calls.push({ match: /reinstall$/, times: always, with: locked });
    await release(id);
    await pass(3 * hour, minute);
    assert.equal((await status()).state, 'quarantined');
    const before = wipes();
    scaleway.faults.calls.length = 0;
    await release(id);
    await pass(12 * minute);
    assert.equal(wipes(), before + 1);
    assert.equal((await status()).state, 'pool');
  });

  it('a server that stays busy is polled less and less often, and quarantined', async (t) => {
    const { id, server, scaleway, release, pass, status, wipes } = await setUp(t);
    server.status = 'updating';
    await release(id);
    await pass(2 * hour, minute);
    assert.equal((await status()).state, 'quarantined');
    const looks = () => scaleway.requests.filter((request) => request.includes(`/servers/${id}`)).length;
    const before = looks();
    await pass(hour, minute);
    assert.ok(looks() - before <= 13, `${looks() - before} looks an hour`);
    server.status = 'ready';
    await pass(30 * minute, minute);
    assert.equal(wipes(), 1);
    assert.equal((await status()).state, 'pool');
  });
});
