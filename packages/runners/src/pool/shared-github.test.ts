import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { secretKeys } from '@tartan/api';
import { secrets } from '@tartan/kube';
import { countsOf, createHarness, namespace, reasonOf } from './testing/harness.ts';

const minute = 60;

describe('the GitHub App of several pools', () => {
  test('is asked as often for ten pools as for one or two', async (t) => {
    const harness = await createHarness();
    t.after(() => harness.end());
    await harness.addSecret();
    for (let index = 0; index < 10; index += 1) await harness.addPool(0, `pool-${index}`);
    await harness.start();
    await harness.advance(20 * minute, 10);
    const sent = (path: RegExp): number => harness.github.requests.filter((each) => path.test(each)).length;
    const figures = {
      lists: sent(/GET \/orgs\/acme\/actions\/runners\?/),
      releases: sent(/downloads/),
      searches: sent(/installation\/repositories/),
    };
    t.diagnostic(`10 pools in 20 min: ${JSON.stringify(figures)}`);
    // Every 5 min and every 30 s, and twice that often if the pools are out of step; plus those at the start.
    assert.ok(figures.lists <= 9 && figures.lists >= 4, `${figures.lists} lists`);
    assert.ok(figures.releases <= 9, `${figures.releases} reads of the newest release`);
    assert.ok(figures.searches <= 81 && figures.searches >= 39, `${figures.searches} searches for jobs`);
  });

  test('is read anew when its Secret changes, without a restart', async (t) => {
    const harness = await createHarness();
    t.after(() => harness.end());
    await harness.addSecret();
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
      type: 'pkcs1',
      format: 'pem',
    });
    const name = { namespace, name: 'github-app' };
    const right = (await harness.client.get(secrets, name)).data ?? {};
    const write = (data: Record<string, string>) =>
      harness.client.patch(secrets, name, { type: 'merge', body: { data } });
    await write({ [secretKeys.githubApp.privateKey]: Buffer.from(other).toString('base64') });
    await harness.addPool(1);
    await harness.start();
    await harness.advance(minute, 10);
    assert.equal(await reasonOf(harness, 'GitHubReachable'), 'Denied');
    await write(right);
    await harness.advance(3 * minute, 10);
    assert.equal(await reasonOf(harness, 'GitHubReachable'), 'Reachable');
    assert.equal((await countsOf(harness)).warm, 1);
  });
});
