import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { type Client, createSecret, isKubeError, KubeError, secrets } from '@tartan/kube';
import {
  deleteMachineSecret,
  isSecretOf,
  type MachineLogin,
  type MachineSecret,
  readMachineSecret,
  type SecretClaimant,
  writeMachineSecret,
} from './secrets.ts';
import { startCluster } from './testing/cluster.ts';

const place = { namespace: 'default', machine: 'mac-1', uid: 'uid-1' };
const claimant: SecretClaimant = { uid: 'uid-1', serverID: '1111', createdAt: 0, hasNamesake: false };
const name = { namespace: 'default', name: 'mac-1-bootstrap' };
const password = 'planted password';
const login: MachineLogin = {
  serverID: '1111',
  username: 'm1',
  password: createSecret(password),
  hostFingerprint: undefined,
};
/** The stored Secret. */
const plain = (secret: MachineSecret | undefined) => {
  if (secret === undefined) return undefined;
  const { serverID, username, hostFingerprint } = secret;
  return { serverID, username, password: secret.password?.reveal(), hostFingerprint };
};
const is = (reason: 'conflict' | 'alreadyExists' | 'notFound') => (error: unknown) => isKubeError(error, reason);

describe('the Secret of a machine', () => {
  test('does not exist at first, then holds what was written, under the original keys', async (t) => {
    const { client } = await startCluster(t);
    assert.equal(await readMachineSecret(client, place), undefined);
    const written = await writeMachineSecret(client, place, login, undefined);
    assert.deepEqual(plain(written), { ...login, password });
    assert.deepEqual(plain(await readMachineSecret(client, place)), plain(written));
    const { data, metadata } = await client.get(secrets, name);
    assert.deepEqual(Object.keys(data ?? {}).sort(), ['ssh-username', 'sudo-password']);
    assert.equal(metadata.annotations?.['scaleway.tuist.dev/server-id'], '1111');
    assert.equal(metadata.annotations?.['scaleway.tuist.dev/machine-uid'], 'uid-1');
  });

  test('gets the host key, and loses it when the server changes', async (t) => {
    const { client } = await startCluster(t);
    const first = await writeMachineSecret(client, place, login, undefined);
    const pinned = await writeMachineSecret(client, place, { ...first, hostFingerprint: 'SHA256:abc' }, first);
    assert.deepEqual([pinned.hostFingerprint, pinned.password?.reveal()], ['SHA256:abc', password]);
    const next = { ...login, serverID: '2222', password: undefined };
    assert.deepEqual(plain(await writeMachineSecret(client, place, next, pinned)), next);
    assert.deepEqual(Object.keys((await client.get(secrets, name)).data ?? {}), ['ssh-username']);
  });

  test('is not overwritten when it changed since the read', async (t) => {
    const { client } = await startCluster(t);
    const first = await writeMachineSecret(client, place, login, undefined);
    await assert.rejects(writeMachineSecret(client, place, login, undefined), is('alreadyExists'));
    await writeMachineSecret(client, place, { ...first, hostFingerprint: 'SHA256:abc' }, first);
    const late = writeMachineSecret(client, place, { ...first, hostFingerprint: 'SHA256:other' }, first);
    await assert.rejects(late, is('conflict'));
    assert.equal((await readMachineSecret(client, place))?.hostFingerprint, 'SHA256:abc');
    await deleteMachineSecret(client, place, claimant);
    await assert.rejects(writeMachineSecret(client, place, login, first), is('notFound'));
  });

  test('is deleted idempotently', async (t) => {
    const { client } = await startCluster(t);
    await writeMachineSecret(client, place, login, undefined);
    assert.equal(await deleteMachineSecret(client, place, claimant), 'gone');
    assert.equal(await deleteMachineSecret(client, place, claimant), 'gone');
    assert.equal(await readMachineSecret(client, place), undefined);
  });

  test('is not deleted by a namesake of its machine', async (t) => {
    const { client } = await startCluster(t);
    await writeMachineSecret(client, place, login, undefined);
    const namesake = { ...claimant, uid: 'uid-2', serverID: undefined, hasNamesake: true };
    assert.equal(await deleteMachineSecret(client, { ...place, uid: 'uid-2' }, namesake), 'foreign');
    assert.equal((await readMachineSecret(client, place))?.machineUID, 'uid-1');
  });

  const unmarked = { machineUID: undefined, serverID: '', createdAt: 1000 };
  const young = { uid: 'uid-1', serverID: undefined, createdAt: 500, hasNamesake: false };
  for (const [title, secret, who, expected] of [
    ['marked with its UID', { ...unmarked, machineUID: 'uid-1', createdAt: 0 }, young, true],
    ['marked with another UID', { ...unmarked, machineUID: 'uid-2' }, young, false],
    [
      'marked with another UID, of its server',
      { ...unmarked, machineUID: 'uid-2', serverID: 's' },
      { ...young, serverID: 's' },
      false,
    ],
    ['unmarked, of its server', { ...unmarked, serverID: 's' }, { ...young, serverID: 's', hasNamesake: true }, true],
    ['unmarked, of another server, made in its lifetime', { ...unmarked, serverID: 's' }, young, true],
    ['unmarked, made in its lifetime, without a namesake', unmarked, young, true],
    ['unmarked, made in its lifetime, with a namesake', unmarked, { ...young, hasNamesake: true }, false],
    ['unmarked, older than the machine', unmarked, { ...young, createdAt: 1001 }, false],
    ['unmarked, of an unknown age', { ...unmarked, createdAt: Number.NaN }, young, false],
    ['unmarked, of a machine without a server', unmarked, { ...young, serverID: '', hasNamesake: true }, false],
  ] as const)
    test(`${title}: ${expected ? 'its own' : 'not its own'}`, () => assert.equal(isSecretOf(secret, who), expected));

  for (const none of ['', '<sealed>', '\n', '<sealed>\n'])
    test(`has no password in ${JSON.stringify(none)} (INC-204, INC-207)`, async (t) => {
      const { client } = await startCluster(t);
      await writeMachineSecret(client, place, { ...login, password: createSecret(none) }, undefined);
      assert.equal((await readMachineSecret(client, place))?.password, undefined);
      await client.patch(secrets, name, { type: 'merge', body: { stringData: { 'sudo-password': none } } });
      assert.equal((await readMachineSecret(client, place))?.password, undefined);
    });

  test('accepts a password typed in an editor: the final newline is dropped, blanks are kept', async (t) => {
    const { client } = await startCluster(t);
    await writeMachineSecret(client, place, { ...login, password: undefined }, undefined);
    await client.patch(secrets, name, { type: 'merge', body: { stringData: { 'sudo-password': ' with blanks \n' } } });
    assert.equal((await readMachineSecret(client, place))?.password?.reveal(), ' with blanks ');
  });

  test('belongs to no server when it has no annotations', async (t) => {
    const { client } = await startCluster(t);
    await client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: name });
    const read = await readMachineSecret(client, place);
    assert.deepEqual([read?.serverID, read?.username, read?.hostFingerprint], ['', '', undefined]);
  });

  test('shows its password neither in print nor in an error of the server', async (t) => {
    const { client } = await startCluster(t);
    const written = await writeMachineSecret(client, place, login, undefined);
    assert.ok(!`${inspect(written, { depth: 9, showHidden: true })}${JSON.stringify(written)}`.includes(password));
    const echo = `bad Secret: ${password} ${Buffer.from(password).toString('base64')}`;
    const repeating = async () => {
      throw new KubeError('invalid', echo, { code: 422, causes: [{ field: 'data', message: echo }], cause: echo });
    };
    const rude = { create: repeating, patch: repeating } as unknown as Client;
    for (const seen of [undefined, written]) {
      const error: unknown = await writeMachineSecret(rude, place, login, seen).catch((problem: unknown) => problem);
      assert.ok(isKubeError(error, 'invalid') && error.code === 422);
      const shown = inspect(error, { depth: 9, showHidden: true });
      assert.ok(!shown.includes(password) && !shown.includes(Buffer.from(password).toString('base64')), shown);
    }
  });
});
