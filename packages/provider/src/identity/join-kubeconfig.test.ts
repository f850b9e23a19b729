import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Client, KubeError } from '@tartan/kube';
import { clusterAddress, ClusterAddressError, joinKubeconfig } from './join-kubeconfig.ts';
import { generateToken } from './join-token.ts';

const saying = (data: Record<string, string> | undefined): Client =>
  ({ get: async () => ({ metadata: {}, data }) }) as unknown as Client;
const failing = (problem: Error): Client =>
  ({
    get: async () => {
      throw problem;
    },
  }) as unknown as Client;
const silent = failing(new Error('nobody should ask'));

/** As kubeadm writes it. */
const byKubeadm = `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: AAAA
    server: https://10.0.0.1:6443/
  name: ""
contexts: null
current-context: ""
kind: Config
users: null
`;

describe('the address of the API server', () => {
  test('is the value of the flag, without a request', async () => {
    const found = await clusterAddress(silent, { apiServerURL: 'https://k8s.example.com:6443/', ca: 'PEM' });
    assert.deepEqual(found, { server: 'https://k8s.example.com:6443', caData: 'UEVN' });
  });

  test('is that of the ConfigMap cluster-info without the flag, with our own certificate authority', async () => {
    const found = await clusterAddress(saying({ kubeconfig: byKubeadm }), { apiServerURL: '', ca: 'PEM' });
    assert.deepEqual(found, { server: 'https://10.0.0.1:6443', caData: 'UEVN' });
    assert.deepEqual(await clusterAddress(saying({ kubeconfig: byKubeadm })), { server: 'https://10.0.0.1:6443' });
  });

  const rows: readonly [string, Client, { apiServerURL?: string }, RegExp][] = [
    [
      'is not in the cluster',
      failing(new KubeError('notFound', 'no')),
      {},
      /there is no ConfigMap kube-public\/cluster-info.*--api-server-url/,
    ],
    ['may not be read', failing(new KubeError('forbidden', 'no')), {}, /may not read.*right to get.*--api-server-url/],
    ['is not in the ConfigMap', saying(undefined), {}, /no kubeconfig.*--api-server-url/],
    ['is in no YAML', saying({ kubeconfig: '{ a: [' }), {}, /no kubeconfig.*--api-server-url/],
    ['is in no list', saying({ kubeconfig: 'clusters: []' }), {}, /no kubeconfig.*--api-server-url/],
    [
      'is a number',
      saying({ kubeconfig: 'clusters: [{cluster: {server: 5}}]' }),
      {},
      /no kubeconfig.*--api-server-url/,
    ],
    ['is no URL', silent, { apiServerURL: 'k8s' }, /from --api-server-url is not a URL/],
    ['is not encrypted', silent, { apiServerURL: 'http://k8s' }, /in the clear/],
    ['holds a password', silent, { apiServerURL: 'https://a:hunter2@k8s' }, /must not have/],
    [
      'of the cluster is not encrypted',
      saying({ kubeconfig: byKubeadm.replace('https', 'http') }),
      {},
      /from ConfigMap.*in the clear/,
    ],
  ];
  for (const [what, client, options, expected] of rows)
    test(`that ${what} is an error with advice`, async () => {
      const error: unknown = await clusterAddress(client, options).catch((problem: unknown) => problem);
      assert.ok(error instanceof ClusterAddressError);
      assert.match(error.message, expected);
      assert.ok(!error.message.includes('hunter2'));
    });

  test('is requested again after an unreachable server', async () => {
    const away = new KubeError('unreachable', 'away');
    await assert.rejects(clusterAddress(failing(away)), away);
  });
});

test('the join kubeconfig is readable by kubectl, and contains the token', () => {
  const token = generateToken((count) => new Uint8Array(count), 0);
  const text = joinKubeconfig({ server: 'https://k8s:6443', caData: 'AAAA', token, nodeName: 'mac-1' });
  assert.ok(text.endsWith('}\n'));
  assert.deepEqual(JSON.parse(text), {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster: { server: 'https://k8s:6443', 'certificate-authority-data': 'AAAA' } }],
    users: [{ name: 'mac-1', user: { token: 'aaaaaa.aaaaaaaaaaaaaaaa' } }],
    contexts: [{ name: 'join', context: { cluster: 'cluster', user: 'mac-1' } }],
    'current-context': 'join',
  });
  assert.ok(!joinKubeconfig({ server: 'https://k8s', token, nodeName: 'm' }).includes('authority'));
});
