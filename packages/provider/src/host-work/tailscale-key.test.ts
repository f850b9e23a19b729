import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { type Client, KubeError, secrets } from '@tartan/kube';
import { readTailscaleKey } from './secrets.ts';
import { startCluster } from './testing/cluster.ts';

const where = { namespace: 'default', name: 'tailnet' };
const put = (client: Client, stringData: Record<string, string>) =>
  client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: where, stringData });

describe('the Tailscale auth key', () => {
  test('is read without the final newline, and redacted', async (t) => {
    const { client } = await startCluster(t);
    await put(client, { 'auth-key': 'tskey-planted\n' });
    const key = await readTailscaleKey(client, where);
    assert.ok(key.kind === 'known');
    assert.equal(key.key.reveal(), 'tskey-planted');
    assert.ok(!`${inspect(key, { depth: 9, showHidden: true })}${JSON.stringify(key)}`.includes('planted'));
  });

  test('has a new version only after a write', async (t) => {
    const { client } = await startCluster(t);
    await put(client, { 'auth-key': 'tskey-1' });
    const version = async (): Promise<string> => {
      const key = await readTailscaleKey(client, where);
      return key.kind === 'known' ? key.version : 'unknown';
    };
    const first = await version();
    assert.equal(await version(), first);
    await client.patch(secrets, where, { type: 'merge', body: { stringData: { 'auth-key': 'tskey-2' } } });
    assert.notEqual(await version(), first);
  });

  test('reports a missing key, with advice', async (t) => {
    const { client } = await startCluster(t);
    const problem = async (): Promise<string> => {
      const key = await readTailscaleKey(client, where);
      return key.kind === 'problem' ? key.message : 'known';
    };
    assert.match(await problem(), /There is no Secret default\/tailnet .*auth-key/);
    await put(client, { 'auth-key': ' \n', other: 'planted' });
    assert.match(await problem(), /default\/tailnet holds no Tailscale key\. .*auth-key/);
  });

  test('rejects when the API server is unreachable', async () => {
    const away = new KubeError('unreachable', 'away');
    const client = { get: () => Promise.reject(away) };
    await assert.rejects(readTailscaleKey(client, where), away);
  });
});
