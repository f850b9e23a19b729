import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { createSecret } from '@tartan/kube';
import { createHarness, organization, repository } from '../testing/harness.ts';

const tokensMade = ({ requests }: { readonly requests: readonly string[] }): number =>
  requests.filter((request) => request.includes('access_tokens')).length;

const another = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' });

describe('the tokens of an App', () => {
  test('concurrent calls share one token until it expires', async () => {
    const { github, clock, service } = createHarness();
    const all = [service(), service({ owner: repository }), service()];
    await Promise.all(all.map((each) => each.list()));
    assert.equal(tokensMade(github), 1);
    clock.advance(50 * 60_000);
    await service().list();
    assert.equal(tokensMade(github), 1);
    clock.advance(6 * 60_000);
    assert.equal((await service().list()).kind, 'listed');
    assert.equal(tokensMade(github), 2);
  });

  test('a rejected token is renewed once for all callers', async () => {
    const { github, service } = createHarness();
    await service().list();
    github.expireTokens();
    const lists = await Promise.all([service().list(), service().find('one'), service({ owner: repository }).list()]);
    assert.deepEqual(
      lists.map(({ kind }) => kind),
      ['listed', 'none', 'listed'],
    );
    assert.equal(tokensMade(github), 2);
  });

  test('a token that expires during a registration is renewed', async () => {
    const { github, mintRunner } = createHarness();
    github.faults.calls.push({ match: /generate-jitconfig/, times: 1, with: 'expired token' });
    await mintRunner('one');
    assert.equal(github.runners().length, 1);
  });

  test('when the new token is rejected too, the call fails, and no third token is requested', async () => {
    const { github, service } = createHarness();
    github.faults.calls.push({ match: /GET/, times: 2, with: 'expired token' });
    const listed = await service().list();
    assert.ok(listed.kind === 'problem' && listed.reason === 'Unavailable');
    assert.equal(tokensMade(github), 2);
    assert.equal((await service().list()).kind, 'listed');
  });

  test('an App that is denied gets the reason, and is not retried for 30 s', async () => {
    const { github, clock, app, service } = createHarness();
    for (const [wrong, expected] of [
      [{ ...app, privateKey: createSecret(another) }, /app-id and private-key belong together/],
      [{ ...app, appID: '4712' }, /app-id and private-key belong together/],
      [{ ...app, installationID: '9' }, /no such installation/],
      [{ ...app, privateKey: createSecret('nonsense') }, /cannot be read/],
    ] as const) {
      const listed = await service({ app: wrong }).list();
      assert.ok(listed.kind === 'problem' && listed.reason === 'Denied');
      assert.match(listed.message, expected);
      const before = github.requests.length;
      assert.deepEqual(await service({ app: wrong }).list(), listed);
      assert.equal(github.requests.length, before);
      clock.advance(30_000);
      await service({ app: wrong }).list();
      assert.equal(github.requests.length, before + (wrong.privateKey.reveal() === 'nonsense' ? 0 : 1));
    }
  });

  test('an App with another private key does not share the token', async () => {
    const { app, service } = createHarness();
    const [right, wrong] = await Promise.all([
      service().list(),
      service({ app: { ...app, privateKey: createSecret(another) } }).list(),
    ]);
    assert.equal(right.kind, 'listed');
    assert.ok(wrong.kind === 'problem' && wrong.reason === 'Denied');
  });

  test('a suspended installation is reported as such', async () => {
    const { service } = createHarness({
      installations: [{ id: 7001, account: 'acme', repositories: [], permissions: {}, suspended: true }],
    });
    const listed = await service().list();
    assert.ok(listed.kind === 'problem' && listed.reason === 'Denied');
    assert.match(listed.message, /not suspended/);
  });

  test('an aborted caller does not cancel the token request of others', async () => {
    const { github, clock, service } = createHarness();
    github.faults.calls.push({ match: /access_tokens/, times: 1, with: { slow: 1000 } });
    const left = new AbortController();
    const leaving = service({ owner: organization }).list({ signal: left.signal });
    const staying = service().list();
    left.abort(new Error('shutting down'));
    await assert.rejects(leaving, /shutting down/);
    clock.advance(1000);
    assert.equal((await staying).kind, 'listed');
    assert.equal(tokensMade(github), 1);
  });
});
