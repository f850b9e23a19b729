import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';
import { machine as machineKind, secretKeys } from '@tartan/api';
import { type Client, createRedactor, KubeError, type Redactor } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { createGitHub, type EmbeddedGitHub } from '@tartan/sim-github';
import { type BuilderRunners, createBuilderRunners } from './builder-runners.ts';

const keys = secretKeys.githubApp;
const builder = (ghActionsRunner: object = {}) =>
  machineKind.make({
    metadata: { name: 'mac-1', namespace: 'macs' },
    spec: {
      ghActionsRunner: { ghOrg: 'acme', ghRunnerLabels: 'macos,test', ghAppSecretName: 'app', ...ghActionsRunner },
    },
  });

describe('the runner of a builder at GitHub', () => {
  let github: EmbeddedGitHub;
  let redactor: Redactor;
  let runners: BuilderRunners;
  let secret: Record<string, string> | KubeError;
  const read: string[] = [];
  const client: Pick<Client, 'get'> = {
    get: async (resource, { namespace, name }) => {
      read.push(`${namespace}/${name}`);
      if (secret instanceof KubeError) throw secret;
      const data = Object.fromEntries(
        Object.entries(secret).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
      );
      const { apiVersion, kind } = { apiVersion: 'v1', kind: resource.kind };
      return { apiVersion, kind, metadata: { name, namespace }, data } as never;
    },
  };
  beforeEach(() => {
    const clock = manualClock();
    github = createGitHub({ clock });
    redactor = createRedactor();
    read.length = 0;
    secret = {
      [keys.appID]: String(github.app.id),
      [keys.installationID]: '7001',
      [keys.privateKey]: github.app.privateKey,
    };
    runners = createBuilderRunners({ client, clock, redactor, apiURL: undefined, fetch: github.fetch });
  });
  /** As config.sh does it. Returns its id and its credentials. */
  const register = async (name = 'mac-1'): Promise<{ id: number; credential: string }> => {
    const token = await runners.registrationToken(builder(), {});
    assert.ok(token.kind === 'known', JSON.stringify(token));
    const body = JSON.stringify({ token: token.token.reveal(), name, labels: ['test'] });
    const response = await github.fetch('https://github.invalid/_actions/runners', { method: 'POST', body });
    assert.equal(response.status, 201);
    return (await response.json()) as { id: number; credential: string };
  };
  const post = async (path: string, body: object = {}): Promise<{ session: string }> =>
    (
      await github.fetch(`https://github.invalid/_actions${path}`, { method: 'POST', body: JSON.stringify(body) })
    ).json() as Promise<{ session: string }>;

  test('registers with a token of the GitHub App of its machine, which is redacted', async () => {
    const { id } = await register();
    assert.deepEqual(read, ['macs/app']);
    assert.deepEqual(
      github.runners().map(({ owner, name }) => [owner, name]),
      [['acme', 'mac-1']],
    );
    assert.equal(github.runners()[0]?.id, id);
    const token = await runners.registrationToken(builder(), {});
    assert.ok(token.kind === 'known');
    assert.ok(!redactor.text(`a ${token.token.reveal()} b`).includes(token.token.reveal()));
  });

  test('is found by name and removed idempotently', async () => {
    assert.deepEqual(await runners.find(builder(), {}), { kind: 'none' });
    await register('mac-10');
    const { id } = await register();
    assert.deepEqual(await runners.find(builder(), {}), { kind: 'there', id, isBusy: false });
    for (const _ of [1, 2]) assert.deepEqual(await runners.remove(builder(), id, {}), { kind: 'none' });
    assert.deepEqual(await runners.find(builder(), {}), { kind: 'none' });
    assert.deepEqual(
      github.runners().map(({ name }) => name),
      ['mac-10'],
    );
  });

  test('is not removed while it has a job', async () => {
    const { id, credential } = await register();
    const { session } = await post('/sessions', { credential });
    github.queueJob({ repository: 'acme/app', labels: ['self-hosted', 'test'] });
    await github.fetch(`https://github.invalid/_actions/sessions/${session}/poll`, { method: 'POST', body: '{}' });
    assert.deepEqual(await runners.find(builder(), {}), { kind: 'there', id, isBusy: true });
    assert.deepEqual(await runners.remove(builder(), id, {}), { kind: 'there', id, isBusy: true });
  });

  test('is listed once for all builders that wait for the end of a job', async () => {
    const names = Array.from({ length: 20 }, (_, at) => `mac-${at}`);
    for (const name of names) {
      const { credential } = await register(name);
      const { session } = await post('/sessions', { credential });
      github.queueJob({ repository: 'acme/app', labels: ['self-hosted', 'test'] });
      await github.fetch(`https://github.invalid/_actions/sessions/${session}/poll`, { method: 'POST', body: '{}' });
    }
    const before = github.requests.length;
    for (const name of names) {
      const found = await runners.find({ ...builder(), metadata: { name, namespace: 'macs' } }, {});
      assert.ok(found.kind === 'there' && found.isBusy, name);
    }
    assert.equal(github.requests.length - before, 1);
  });

  test('is read live before it counts as idle or gone', async () => {
    const { id, credential } = await register();
    assert.deepEqual(await runners.find(builder(), {}), { kind: 'there', id, isBusy: false });
    const { session } = await post('/sessions', { credential });
    github.queueJob({ repository: 'acme/app', labels: ['self-hosted', 'test'] });
    await github.fetch(`https://github.invalid/_actions/sessions/${session}/poll`, { method: 'POST', body: '{}' });
    assert.deepEqual(await runners.find(builder(), {}), { kind: 'there', id, isBusy: true });
    const late = { ...builder(), metadata: { name: 'mac-2', namespace: 'macs' } };
    const { id: lateID } = await register('mac-2');
    assert.deepEqual(await runners.find(late, {}), { kind: 'there', id: lateID, isBusy: false });
    const lists = github.requests.filter((each) => /GET .*runners\?/.test(each) && !each.includes('name='));
    assert.equal(lists.length, 1, 'the list is older than each of these changes');
  });

  test('uses a new key of the GitHub App at once', async () => {
    const right = secret;
    assert.ok(!(right instanceof KubeError));
    const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    secret = { ...right, [keys.privateKey]: key.export({ type: 'pkcs1', format: 'pem' }) };
    assert.equal((await runners.find(builder(), {})).kind, 'unknown');
    secret = right;
    assert.deepEqual(await runners.find(builder(), {}), { kind: 'none' });
  });

  test('is unknown while GitHub does not answer, and no token is issued', async () => {
    github.faults.outage.api = 503;
    const token = await runners.registrationToken(builder(), {});
    assert.ok(token.kind === 'problem' && token.message.length > 20);
    assert.equal((await runners.find(builder(), {})).kind, 'unknown');
    assert.equal((await runners.remove(builder(), 1, {})).kind, 'unknown');
  });

  const unusable: readonly [string, () => unknown, object, RegExp][] = [
    ['is not there', () => (secret = new KubeError('notFound', 'no')), {}, /macs\/app .*is not there\. Make it/],
    ['may not be read', () => (secret = new KubeError('forbidden', 'you may not')), {}, /cannot be read: you may not/],
    ['lacks something', () => (secret = { [keys.appID]: '1' }), {}, /macs\/app: .*no installation-id/],
    ['is not named', () => undefined, { ghAppSecretName: '' }, /ghAppSecretName names no Secret/],
    ['has an invalid organisation', () => undefined, { ghOrg: 'a b' }, /"a b": no organisation/],
  ];
  for (const [what, prepare, spec, says] of unusable)
    test(`is unavailable when the Secret ${what}, and GitHub gets no request`, async () => {
      prepare();
      const token = await runners.registrationToken(builder(spec), {});
      assert.ok(token.kind === 'problem');
      assert.match(token.message, says);
      const seen = await runners.find(builder(spec), {});
      assert.ok(seen.kind === 'unknown');
      assert.match(seen.message, says);
      assert.deepEqual(github.requests, []);
    });
});
