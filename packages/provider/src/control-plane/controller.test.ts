import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotations, externalControlPlane } from '@tartan/api';
import { grantPolicyRules, httpsTransport, KubeError, loadConfig, secrets, type TransportRequest } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { serve } from '@tartan/sim-kubernetes';
import { namespace } from '../cluster/testing/harness.ts';
import { remoteRights } from './remote-rights.ts';
import { createHarness, foreign } from './testing/harness.ts';

const minted = [
  'POST /api/v1/namespaces/fleet/serviceaccounts/capi-remote/token',
  'POST /api/v1/namespaces/fleet/secrets',
];
const another = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x', controller: true };
const hours = (count: number): number => count * 60;

test('the control plane is Available and externally managed, and has a kubeconfig in the format of Cluster API', async (t) => {
  const harness = await createHarness(t);
  await harness.start();
  const { status, metadata } = await harness.get();
  assert.deepEqual(status?.initialization, { controlPlaneInitialized: true });
  assert.equal(status.externalManagedControlPlane, true);
  assert.equal(status.initialized, true);
  assert.equal(status.ready, true);
  assert.equal(status.kubeconfigExpires, '2026-01-02T00:00:00Z');
  assert.equal(await harness.reasonOf('Available'), 'Available');
  assert.equal(await harness.reasonOf('Ready'), 'Available');
  assert.equal(await harness.reasonOf('KubeconfigReady'), 'Minted');
  const secret = await harness.secret();
  assert.equal(secret.type, 'cluster.x-k8s.io/secret');
  assert.deepEqual(secret.metadata.labels, { 'cluster.x-k8s.io/cluster-name': 'macs' });
  assert.deepEqual(Object.keys(secret.data ?? {}), ['value']);
  const [owner, ...others] = secret.metadata.ownerReferences ?? [];
  assert.equal(others.length, 0);
  assert.equal(owner?.uid, metadata.uid);
  assert.equal(owner.controller, true);
  assert.match(await harness.kubeconfig(), /"server": "https:\/\/10\.0\.0\.1:443"/);
  assert.deepEqual(harness.mints(), minted);
});

test('nothing is written before the token is due, and the token is replaced after two thirds of its lifetime', async (t) => {
  const harness = await createHarness(t);
  await harness.start();
  const before = await harness.kubeconfig();
  const count = harness.writes.length;
  await harness.pass(hours(16) - 5);
  assert.equal(harness.writes.length, count);
  await harness.pass(5);
  assert.notEqual(await harness.kubeconfig(), before);
  assert.equal((await harness.get()).status?.kubeconfigExpires, '2026-01-02T16:00:00Z');
  assert.equal(harness.mints().length, 4);
  await harness.pass(hours(17));
  assert.equal(harness.mints().length, 6, 'and again');
});

test('Cluster API connects with the kubeconfig over HTTPS as the ServiceAccount, and has exactly the rights for a drain', async (t) => {
  const harness = await createHarness(t, { startTime: systemClock.now() });
  const { handle, identity } = harness.kubernetes;
  const served = await serve({ handle, identity, host: '127.0.0.1', port: 0 });
  t.after(() => served.close());
  harness.apiServer.address = async () => served.url;
  await harness.start();
  const text = await harness.kubeconfig();
  const config = await loadConfig({
    env: {},
    clock: systemClock,
    kubeconfigPath: '/kubeconfig',
    readFile: async () => text,
  });
  const transport = httpsTransport({ ...config, clock: systemClock });
  t.after(() => transport.close());
  const asked = async (method: TransportRequest['method'], path: string): Promise<number> => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const sent = method === 'GET' ? {} : { body: '{}', headers: { 'content-type': type } };
    const { code, body } = await transport.send({ method, path, headers: {}, ...sent, signal: t.signal });
    for await (const _ of body);
    return code;
  };
  assert.equal(await asked('GET', '/api/v1/nodes'), 403, 'the account alone may do nothing');

  const account = { namespace, name: 'capi-remote' };
  await grantPolicyRules(harness.client.create, 'capi-remote', { account }, { clusterWide: remoteRights });
  const eviction = '/api/v1/namespaces/x/pods/y/eviction';
  const allowed: [method: TransportRequest['method'], path: string][] = [
    ['GET', '/'],
    ['GET', '/api/v1/nodes'],
    ['GET', '/api/v1/nodes/x'],
    ['PATCH', '/api/v1/nodes/x'],
    ['DELETE', '/api/v1/nodes/x'],
    ['GET', '/api/v1/pods'],
    ['POST', eviction],
    ['GET', '/api/v1/namespaces'],
    ['GET', '/apis/apps/v1/namespaces/x/daemonsets/y'],
    ['GET', '/apis/storage.k8s.io/v1/volumeattachments'],
    ['GET', '/api/v1/persistentvolumes'],
  ];
  for (const [method, path] of allowed) assert.notEqual(await asked(method, path), 403, `${method} ${path}`);
  const refused: [method: TransportRequest['method'], path: string][] = [
    ['GET', '/api/v1/secrets'],
    ['POST', '/api/v1/nodes'],
    ['DELETE', '/api/v1/namespaces/x/pods/y'],
    ['GET', `/apis/${externalControlPlane.names.group}/v1alpha1/externalcontrolplanes`],
  ];
  for (const [method, path] of refused) assert.equal(await asked(method, path), 403, `${method} ${path}`);
});

test('a deleted or damaged Secret is written again, once', async (t) => {
  const harness = await createHarness(t);
  await harness.start();
  const damages: [string, () => Promise<unknown>][] = [
    ['deleted', harness.deleteSecret],
    ['value emptied', () => harness.patchSecret({ data: { value: '' } })],
    ['value replaced', () => harness.patchSecret({ data: { value: Buffer.from('kind: Config').toString('base64') } })],
    ['label removed', () => harness.patchSecret({ metadata: { labels: { 'cluster.x-k8s.io/cluster-name': null } } })],
    [
      'token metadata removed',
      () => harness.patchSecret({ metadata: { annotations: { [annotations.kubeconfigToken]: null } } }),
    ],
    [
      'token metadata edited',
      async () => {
        const edited = JSON.stringify({ ...(await harness.tokenMetadata()), expires: '2099-01-01T00:00:00Z' });
        await harness.patchSecret({ metadata: { annotations: { [annotations.kubeconfigToken]: edited } } });
      },
    ],
    ['immutable, and its label removed', () => harness.patchSecret({ immutable: true, metadata: { labels: null } })],
  ];
  let before = await harness.kubeconfig();
  for (const [name, damage] of damages) {
    const count = harness.mints().length;
    await damage();
    const after = await harness.kubeconfig();
    assert.notEqual(after, before, name);
    const secret = await harness.secret();
    assert.equal(secret.metadata.labels?.['cluster.x-k8s.io/cluster-name'], 'macs', name);
    assert.equal(await harness.reasonOf('Available'), 'Available', name);
    await harness.pass(30);
    assert.ok(harness.mints().length - count <= 3, name);
    before = await harness.kubeconfig();
    assert.equal(before, after, name);
  }
});

test('labels and annotations of others on the Secret are kept', async (t) => {
  const harness = await createHarness(t);
  await harness.start();
  await harness.patchSecret({ metadata: { labels: { theirs: 'x' }, annotations: { note: 'y' } }, data: { value: '' } });
  const { metadata } = await harness.secret();
  assert.equal(metadata.labels?.['theirs'], 'x');
  assert.equal(metadata.annotations?.['note'], 'y');
});

test('another address, another spec.server or another ServiceAccount each lead to a new kubeconfig', async (t) => {
  const harness = await createHarness(t);
  await harness.start();
  harness.apiServer.address = async () => 'https://10.0.0.2:443/';
  await harness.pass(11);
  assert.match(await harness.kubeconfig(), /"https:\/\/10\.0\.0\.2:443"/);
  const body = { spec: { server: 'https://api.example:6443' } };
  await harness.client.patch(externalControlPlane.resource, { namespace, name: 'macs' }, { type: 'merge', body });
  await harness.pass(1);
  assert.match(await harness.kubeconfig(), /"https:\/\/api\.example:6443"/);
  const { account } = await harness.tokenMetadata();
  await harness.removeAccount();
  const { metadata } = await harness.addAccount();
  await harness.pass(11);
  assert.notEqual(account, metadata.uid);
  assert.equal((await harness.tokenMetadata())['account'], metadata.uid);
});

test('a Secret of another controller is left alone and reported; after its deletion ours is created', async (t) => {
  const harness = await createHarness(t);
  await harness.provide('theirs', { ownerReferences: [another] });
  await harness.start();
  await harness.pass(hours(25));
  assert.equal(await harness.kubeconfig(), foreign('theirs'));
  assert.deepEqual(harness.mints(), []);
  assert.equal(await harness.reasonOf('KubeconfigReady'), 'NotOurs');
  assert.equal(await harness.reasonOf('Available'), 'Available');
  await harness.deleteSecret();
  assert.deepEqual(harness.mints(), minted);
  assert.equal(await harness.reasonOf('KubeconfigReady'), 'Minted');
});

test('a Secret without an owner is taken over, even if it is immutable', async (t) => {
  for (const more of [{}, { immutable: true }, { type: 'Opaque' }]) {
    const harness = await createHarness(t);
    await harness.provide('theirs', { labels: { theirs: 'x' } }, more);
    await harness.start();
    assert.notEqual(await harness.kubeconfig(), foreign('theirs'));
    const { metadata, type } = await harness.secret();
    assert.equal(type, 'cluster.x-k8s.io/secret');
    assert.equal(metadata.ownerReferences?.[0]?.uid, (await harness.get()).metadata.uid);
    assert.equal(await harness.reasonOf('KubeconfigReady'), 'Minted');
  }
});

test('in mode Provided, the minted kubeconfig is kept until somebody writes the Secret, and is then disowned', async (t) => {
  const harness = await createHarness(t);
  await harness.setMode('Provided');
  await harness.start();
  assert.deepEqual(harness.mints(), minted);
  assert.equal(await harness.reasonOf('KubeconfigReady'), 'Minted');
  await harness.pass(hours(17));
  assert.equal(harness.mints().length, 4, 'it is kept fresh');
  await harness.patchSecret({
    metadata: { annotations: { note: 'y' } },
    data: { value: Buffer.from(foreign('theirs')).toString('base64') },
  });
  const { metadata } = await harness.secret();
  assert.equal(metadata.ownerReferences, undefined);
  assert.deepEqual(metadata.annotations, { note: 'y' });
  assert.deepEqual(metadata.labels, { 'cluster.x-k8s.io/cluster-name': 'macs' });
  const writes = harness.mints().length;
  await harness.pass(hours(2));
  assert.equal(harness.mints().length, writes);
  assert.equal(await harness.kubeconfig(), foreign('theirs'));
  assert.equal(await harness.reasonOf('KubeconfigReady'), 'Provided');
  assert.equal(await harness.reasonOf('Available'), 'Available');
  assert.equal((await harness.get()).status?.kubeconfigExpires, undefined);
  assert.ok((await harness.messages()).some((message) => message.includes('theirs from now on')));
  await harness.setMode('Minted');
  await harness.pass(1);
  assert.notEqual(await harness.kubeconfig(), foreign('theirs'));
  assert.equal(await harness.reasonOf('KubeconfigReady'), 'Minted');
});

test('a provided kubeconfig that Cluster API cannot find is left alone and reported as missing', async (t) => {
  const harness = await createHarness(t);
  await harness.setMode('Provided');
  await harness.provide('theirs', { labels: {} });
  await harness.start();
  assert.equal(await harness.kubeconfig(), foreign('theirs'));
  assert.equal(await harness.reasonOf('Available'), 'KubeconfigMissing');
  assert.equal(await harness.reasonOf('KubeconfigReady'), 'NotOurs');
});

test('without the ServiceAccount no kubeconfig is written, and the status says so', async (t) => {
  const harness = await createHarness(t, { account: false });
  await harness.start();
  assert.equal(await harness.reasonOf('KubeconfigReady'), 'ServiceAccountMissing');
  assert.equal(await harness.reasonOf('Available'), 'KubeconfigMissing');
  assert.deepEqual((await harness.get()).status?.initialization, { controlPlaneInitialized: true });
  await harness.addAccount();
  await harness.pass(11);
  assert.equal(await harness.reasonOf('Available'), 'Available');
});

test('no token is minted while paused or during deletion', async (t) => {
  const harness = await createHarness(t);
  await harness.setPaused(true);
  await harness.start();
  await harness.pass(30);
  assert.equal(await harness.secretIfThere(), undefined);
  assert.equal(await harness.reasonOf('Paused'), 'Paused');
  assert.equal((await harness.get()).status?.initialization, undefined);
  const held = { metadata: { finalizers: ['example.com/held'] } };
  await harness.client.patch(externalControlPlane.resource, { namespace, name: 'macs' }, { type: 'merge', body: held });
  await harness.client.delete(externalControlPlane.resource, { namespace, name: 'macs' });
  await harness.setPaused(false);
  await harness.pass(30);
  assert.equal(await harness.secretIfThere(), undefined);
});

test('a Secret that changes during a reconcile is read again, not overwritten', async (t) => {
  const harness = await createHarness(t);
  let raced = false;
  harness.interpose((send) => async (request) => {
    if (!raced && request.method === 'PUT' && request.path.includes('/secrets/')) {
      raced = true;
      const body = { metadata: { ownerReferences: [another] } };
      await harness.client.patch(secrets, { namespace, name: 'macs-kubeconfig' }, { type: 'merge', body });
    }
    return send(request);
  });
  await harness.start();
  const before = await harness.kubeconfig();
  await harness.pass(hours(17));
  assert.ok(raced);
  assert.ok(
    (await harness.messages()).every((message) => message.includes('has a new token')),
    'that is no failure',
  );
  assert.equal(await harness.kubeconfig(), before);
  assert.equal(await harness.reasonOf('KubeconfigReady'), 'NotOurs');
});

test('a token appears only in the Secret, whatever fails', async (t) => {
  const harness = await createHarness(t);
  const tokens: string[] = [];
  const values: string[] = [];
  let failures = 2;
  harness.interpose((send) => async (request) => {
    const token = /"value":"([^"]+)"/.exec(request.body ?? '')?.[1];
    if (!request.path.includes('/secrets') || token === undefined) return send(request);
    const kubeconfig = Buffer.from(token, 'base64').toString();
    tokens.push(/"token": "([^"]+)"/.exec(kubeconfig)?.[1] ?? assert.fail('no token in the kubeconfig'));
    values.push(token);
    failures -= 1;
    if (failures < 0) return send(request);
    throw new KubeError('serverError', `a server that quotes what it was sent: _${tokens.at(-1)} _${token}`);
  });
  await harness.start();
  await harness.pass(10);
  assert.equal(tokens.length, 3);
  assert.equal(await harness.reasonOf('Available'), 'Available');
  const messages = await harness.messages();
  assert.ok(
    messages.some((message) => message.includes('quotes what it was sent')),
    'the failure is reported',
  );
  const { data: _, ...secret } = await harness.secret();
  const shown = [JSON.stringify(await harness.get()), JSON.stringify(secret), ...messages, ...harness.lines].join('\n');
  for (const value of values) assert.ok(!shown.includes(value));
  for (const token of tokens) assert.ok(!shown.includes(token.slice(0, 30)) && !shown.includes(token.slice(-20)));
  assert.ok(!shown.includes(Buffer.from(await harness.kubeconfig()).toString('base64')));
});

test('a rotation that fails leaves the control plane available until the old token expires', async (t) => {
  const harness = await createHarness(t);
  await harness.start();
  harness.interpose((send) => async (request) => {
    if (request.path.includes('/capi-remote/token'))
      throw new KubeError('forbidden', 'serviceaccounts/token is forbidden');
    return send(request);
  });
  await harness.pass(hours(17));
  assert.equal(await harness.reasonOf('KubeconfigReady'), 'MintFailed');
  assert.equal(await harness.reasonOf('Available'), 'Available');
  await harness.pass(hours(8));
  assert.equal(await harness.reasonOf('Available'), 'KubeconfigMissing');
  assert.equal((await harness.get()).status?.ready, false);
  const failures = (await harness.messages()).filter((message) => message.includes('is forbidden'));
  assert.equal(failures.length, 1, 'reported once');
});

test('no token is minted for an address that is not HTTPS', async (t) => {
  const harness = await createHarness(t);
  harness.apiServer.address = async () => 'http://10.0.0.1:80';
  await harness.start();
  assert.equal(await harness.reasonOf('KubeconfigReady'), 'MintFailed');
  assert.deepEqual(harness.mints(), []);
});
