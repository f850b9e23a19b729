import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test, type TestContext } from 'node:test';
import { createRedactor, isKubeError, KubeError, secrets } from '@tartan/kube';
import { ClusterAddressError } from '../identity/join-kubeconfig.ts';
import type { TokenRecord } from '../identity/join-token.ts';
import { type JoinOptions, makeJoinCredentials } from './join-credentials.ts';
import { startCluster } from './testing/cluster.ts';

const machine = { namespace: 'macs', name: 'mac-1', uid: 'uid-1' };

const setUp = async (t: TestContext) => {
  const { client, clock } = await startCluster(t);
  const records: TokenRecord[] = [];
  const redactor = createRedactor();
  const options: JoinOptions = {
    machine,
    recorded: undefined,
    record: async (record) => void records.push(record),
    address: async () => ({ server: 'https://k8s:6443', caData: 'AAAA' }),
    clock,
    random: randomBytes,
    redactor,
  };
  const tokens = async (): Promise<string[]> =>
    (await client.list(secrets, { namespace: 'kube-system' })).items.map(({ metadata }) => metadata.name);
  return { client, clock, records, redactor, options, tokens };
};

describe('join credentials', () => {
  test('are a kubeconfig with a token of its own, recorded before it exists', async (t) => {
    const { client, clock, records, options, tokens } = await setUp(t);
    const { joinVersion, kubeconfig } = await makeJoinCredentials(client, options);
    assert.deepEqual(records, [{ tokenID: joinVersion, expiresAt: clock.now() + 3_600_000 }]);
    assert.deepEqual(await tokens(), [`bootstrap-token-${joinVersion}`]);
    const { users, clusters } = JSON.parse(kubeconfig) as {
      users: { name: string; user: { token: string } }[];
      clusters: { cluster: object }[];
    };
    assert.equal(users[0]?.name, 'mac-1');
    assert.ok(users[0]?.user.token.startsWith(`${joinVersion}.`));
    assert.deepEqual(clusters[0]?.cluster, { server: 'https://k8s:6443', 'certificate-authority-data': 'AAAA' });
  });

  test('replace the previous ones', async (t) => {
    const { client, options, tokens } = await setUp(t);
    const first = await makeJoinCredentials(client, options);
    const second = await makeJoinCredentials(client, { ...options, recorded: first.joinVersion });
    assert.notEqual(second.joinVersion, first.joinVersion);
    assert.deepEqual(await tokens(), [`bootstrap-token-${second.joinVersion}`]);
  });

  test('are not made when the address of the API server is unknown', async (t) => {
    const { client, records, options, tokens } = await setUp(t);
    const unknown = new ClusterAddressError('set --api-server-url');
    const address = () => Promise.reject(unknown);
    await assert.rejects(makeJoinCredentials(client, { ...options, recorded: 'aaaaaa', address }), unknown);
    assert.deepEqual([records, await tokens()], [[], []]);
  });

  test('are not made when their id could not be recorded', async (t) => {
    const { client, options, tokens } = await setUp(t);
    const record = () => Promise.reject(new KubeError('conflict', 'somebody else was faster'));
    await assert.rejects(makeJoinCredentials(client, { ...options, record }), (error) =>
      isKubeError(error, 'conflict'),
    );
    assert.deepEqual(await tokens(), []);
  });

  test('are redacted in logs', async (t) => {
    const { client, redactor, options } = await setUp(t);
    const { kubeconfig } = await makeJoinCredentials(client, options);
    const token = /"token": "([^"]+)"/.exec(kubeconfig)?.[1] ?? '';
    assert.match(token, /^[a-z0-9]{6}\.[a-z0-9]{16}$/);
    const encoded = Buffer.from(kubeconfig.trim()).toString('base64');
    const logged = redactor.text(`a ${token} b ${encoded} c`);
    assert.equal(logged, 'a [redacted] b [redacted] c');
  });
});
