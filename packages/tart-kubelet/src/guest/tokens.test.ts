import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { dispatchAudience } from '@tartan/api';
import { KubeError, type Live, pods, serviceAccounts } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { Pod } from '../pods/snapshot.ts';
import { createGuests } from './create-guests.ts';
import { type GuestHarness, mount, problemOf, sharesOf, token, withGuestHarness } from './testing/harness.ts';
import { isRenewalDue, tokenLifetime } from './tokens.ts';

const hour = 3_600_000;
const never = new AbortController().signal;

describe('the tokens of a guest', () => {
  const claimsOf = async ({ kubernetes, read }: GuestHarness, path: string, audience?: string) =>
    kubernetes.identity.verifyToken(await read(path), audience === undefined ? undefined : [audience]);
  const minted = ({ requests }: GuestHarness): number =>
    requests.filter((request) => request.endsWith('/token')).length;
  const renew = ({ guests, vm }: GuestHarness, pod: Live<Pod>) => guests.renewTokens(pod, vm, never);

  it('are for one audience and bound to this very Pod (INC-70)', () =>
    withGuestHarness(async (harness) => {
      const pod = await harness.pod((spec) => mount(spec, 'jobs', token('jobs', { path: 'deep/token' })));
      sharesOf(await harness.prepare(pod));
      const claims = await claimsOf(harness, 'volumes/jobs/deep/token', 'jobs');
      assert.deepEqual(claims?.audiences, ['jobs']);
      assert.deepEqual(claims?.pod, { name: 'runner-1', uid: pod.metadata.uid });
      assert.equal(claims?.serviceAccount.name, 'builder');
      assert.equal(await claimsOf(harness, 'volumes/jobs/deep/token'), undefined);
      assert.equal(await harness.mode('volumes/jobs/deep/token'), 0o600);
      assert.deepEqual(await harness.files(), ['env/tuist.env', 'volumes/jobs/deep/token']);
    }));

  it('are requested once when the dispatch token is also in env', () =>
    withGuestHarness(async (harness) => {
      const pod = await harness.pod((spec) => mount(spec, 'dispatch', token(dispatchAudience)));
      sharesOf(await harness.prepare(pod));
      assert.equal(await harness.read('env/sa_token'), await harness.read('volumes/dispatch/token'));
      assert.equal(await harness.mode('env/sa_token'), 0o600);
      assert.equal(minted(harness), 1);
    }));

  it('are in env for the dispatch even if the volume with that audience is not mounted', () =>
    withGuestHarness(async (harness) => {
      const sources = [token(dispatchAudience)];
      const pod = await harness.pod((spec) => (spec.volumes = [{ name: 'd', projected: { sources } }]));
      assert.deepEqual(Object.keys(sharesOf(await harness.prepare(pod))), ['env', 'status']);
      assert.ok(await claimsOf(harness, 'env/sa_token', dispatchAudience));
      harness.clock.advance(hour);
      const before = await harness.read('env/sa_token');
      await renew(harness, pod);
      assert.notEqual(await harness.read('env/sa_token'), before);
    }));

  const added = (spec: NonNullable<Pod['spec']>, automount?: boolean): void => {
    if (automount !== undefined) spec.automountServiceAccountToken = automount;
    mount(spec, 'kube-api-access-x7k2p', token(''), { configMap: { name: 'kube-root-ca.crt' } });
  };

  for (const automount of [undefined, false])
    it(`are none for the cluster when automountServiceAccountToken is ${automount} (INC-70)`, () =>
      withGuestHarness(async (harness) => {
        const pod = await harness.pod((spec) => added(spec, automount));
        assert.deepEqual(Object.keys(sharesOf(await harness.prepare(pod))), ['env', 'status']);
        assert.deepEqual(harness.requests, []);
        assert.equal(await renew(harness, pod), undefined);
      }));

  it('are for the API server only if automountServiceAccountToken is true', () =>
    withGuestHarness(async (harness) => {
      await harness.configMap('kube-root-ca.crt', { 'ca.crt': 'pem' });
      sharesOf(await harness.prepare(await harness.pod((spec) => added(spec, true))));
      assert.ok(await claimsOf(harness, 'volumes/kube-api-access-x7k2p/token'));
    }));

  it('are renewed in place after 80 % of their lifetime (INC-69)', () =>
    withGuestHarness(async (harness) => {
      const pod = await harness.pod((spec) => {
        mount(spec, 'short', token('a', { expirationSeconds: 600 }), token('b', { path: 'long' }));
      });
      const start = harness.clock.now();
      sharesOf(await harness.prepare(pod));
      const read = async () => [await harness.read('volumes/short/token'), await harness.read('volumes/short/long')];
      const first = await read();
      assert.equal(await renew(harness, pod), start + 480_000);
      harness.clock.advance(479_999);
      await renew(harness, pod);
      assert.deepEqual(await read(), first);
      assert.equal(minted(harness), 2);
      harness.clock.advance(1);
      assert.equal(await renew(harness, pod), start + 960_000);
      const second = await read();
      assert.notEqual(second[0], first[0]);
      assert.equal(second[1], first[1]);
      assert.ok(await claimsOf(harness, 'volumes/short/token', 'a'));
      assert.deepEqual(await harness.files(), ['env/tuist.env', 'volumes/short/long', 'volumes/short/token']);
    }));

  for (const content of [undefined, '', '{', '{"v/token":{"mintedAt":0}}', 'null'])
    it(`are renewed at once when their lifetime file contains ${JSON.stringify(content)}`, () =>
      withGuestHarness(async (harness) => {
        const pod = await harness.pod((spec) => mount(spec, 'v', token('a')));
        sharesOf(await harness.prepare(pod));
        const lives = join(harness.folder, harness.vm, 'token-lives.json');
        if (content === undefined) rmSync(lives);
        else writeFileSync(lives, content);
        await renew(harness, pod);
        assert.equal(minted(harness), 2);
        await renew(harness, pod);
        assert.equal(minted(harness), 2);
      }));

  it('stay in place when renewal fails, and do not block the renewal of others', () =>
    withGuestHarness(async (harness) => {
      const pod = await harness.pod((spec) => mount(spec, 'v', token('a'), token('b', { path: 'other' })));
      sharesOf(await harness.prepare(pod));
      const before = [await harness.read('volumes/v/token'), await harness.read('volumes/v/other')];
      harness.clock.advance(hour);
      let refused = 0;
      harness.intercept = () => {
        refused += 1;
        if (refused === 1) throw new KubeError('unreachable', 'no answer');
      };
      await assert.rejects(renew(harness, pod), { reason: 'unreachable' });
      assert.equal(await harness.read('volumes/v/token'), before[0]);
      assert.notEqual(await harness.read('volumes/v/other'), before[1]);
      harness.requests.length = 0;
      await renew(harness, pod);
      assert.equal(minted(harness), 1);
      assert.notEqual(await harness.read('volumes/v/token'), before[0]);
    }));

  it('with a short lifetime are renewed once a minute at most', () =>
    withGuestHarness(async ({ clock, folder, node, pod, vm }) => {
      const createToken = async () => ({ token: 't', expirationTimestamp: timestamp(clock.now() + 1000) });
      const guests = createGuests({ folder, client: node, clock, tokens: { createToken } });
      const made = await pod((spec) => mount(spec, 'v', token('a')));
      sharesOf(await guests.prepare(made, vm, { hostIP: undefined }, never));
      assert.equal(await guests.renewTokens(made, vm, never), clock.now() + 60_000);
    }));

  it('are not written for a removed guest', () =>
    withGuestHarness(async (harness) => {
      const pod = await harness.pod((spec) => mount(spec, 'v', token('a')));
      await assert.rejects(renew(harness, pod), { code: 'ENOENT' });
      assert.deepEqual(await harness.guests.list(), []);
    }));

  it('that the server forbids result in a message that says what to do', () =>
    withGuestHarness(async (harness) => {
      // The stored Pod does not have the volume that is added to our copy.
      const pod = await harness.pod();
      mount(pod.spec ?? assert.fail(), 'v', token('other'));
      const problem = problemOf(await harness.prepare(pod));
      assert.match(
        problem,
        /^TokenRefused: .*ServiceAccount builder for other: .*"other" not found in pod spec volume/,
      );
      assert.match(problem, /add a projected volume with a serviceAccountToken of that audience\.$/);
      mkdirSync(join(harness.folder, harness.vm));
      await assert.rejects(renew(harness, pod), /add a projected volume/);
    }));

  it('of a missing ServiceAccount result in a message that says what to do', () =>
    withGuestHarness(async (harness) => {
      const pod = await harness.pod((spec) => mount(spec, 'v', token('a')));
      await harness.admin.delete(serviceAccounts, { namespace: 'runners', name: 'builder' });
      assert.match(
        problemOf(await harness.prepare(pod)),
        /^CreateContainerConfigError: .*ServiceAccount builder: it is not there/,
      );
    }));

  it('are never those of a later Pod with the same name', () =>
    withGuestHarness(async (harness) => {
      const change = (spec: NonNullable<Pod['spec']>) => mount(spec, 'v', token('a'));
      const old = await harness.pod(change);
      await harness.admin.delete(pods, { namespace: 'runners', name: 'runner-1' }, { gracePeriodSeconds: 0 });
      await harness.pod(change);
      assert.match(problemOf(await harness.prepare(old)), /does not match the UID in record/);
    }));
});

describe('the lifetime of a token', () => {
  const now = 1_000_000;
  for (const [what, seconds, left, expected] of [
    ['is what was asked for', 3600, hour, 0.8 * hour],
    ['is what the server gave, if that is less', 3600, hour / 2, 0.4 * hour],
    ['is what was asked for when the server gives more', 3600, 24 * hour, 0.8 * hour],
    ['is what was asked for when clocks differ so much that it seems over', 3600, -hour, 0.8 * hour],
    ['is what was asked for when the server’s word cannot be read', 3600, Number.NaN, 0.8 * hour],
    ['is a day at most', 10 * 24 * 3600, 10 * 24 * hour, 24 * hour],
  ] as const)
    it(what, () => assert.equal(tokenLifetime(now, seconds, now + left).renewAt, now + expected));

  it('is over when the clock was set back before its issue time', () => {
    const life = tokenLifetime(now, 3600, now + hour);
    assert.equal(isRenewalDue(life, now), false);
    assert.equal(isRenewalDue(life, now - 1), true);
  });
});
