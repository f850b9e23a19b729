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

test('the control plane is up, managed elsewhere, and has a kubeconfig as core wants it', async (t) => {
  const stage = await createHarness(t);
  await stage.start();
  const { status, metadata } = await stage.get();
  assert.deepEqual(status?.initialization, { controlPlaneInitialized: true });
  assert.equal(status.externalManagedControlPlane, true);
  assert.equal(status.initialized, true);
  assert.equal(status.ready, true);
  assert.equal(status.kubeconfigExpires, '2026-01-02T00:00:00Z');
  assert.equal(await stage.reasonOf('Available'), 'Available');
  assert.equal(await stage.reasonOf('Ready'), 'Available');
  assert.equal(await stage.reasonOf('KubeconfigReady'), 'Minted');
  const secret = await stage.secret();
  assert.equal(secret.type, 'cluster.x-k8s.io/secret');
  assert.deepEqual(secret.metadata.labels, { 'cluster.x-k8s.io/cluster-name': 'macs' });
  assert.deepEqual(Object.keys(secret.data ?? {}), ['value']);
  const [owner, ...others] = secret.metadata.ownerReferences ?? [];
  assert.equal(others.length, 0);
  assert.equal(owner?.uid, metadata.uid);
  assert.equal(owner.controller, true);
  assert.match(await stage.kubeconfig(), /"server": "https:\/\/10\.0\.0\.1:443"/);
  assert.deepEqual(stage.mints(), minted);
});

test('nothing is written while nothing is due, and the token is replaced when two thirds of its life are over', async (t) => {
  const stage = await createHarness(t);
  await stage.start();
  const before = await stage.kubeconfig();
  const count = stage.writes.length;
  await stage.pass(hours(16) - 5);
  assert.equal(stage.writes.length, count);
  await stage.pass(5);
  assert.notEqual(await stage.kubeconfig(), before);
  assert.equal((await stage.get()).status?.kubeconfigExpires, '2026-01-02T16:00:00Z');
  assert.equal(stage.mints().length, 4);
  await stage.pass(hours(17));
  assert.equal(stage.mints().length, 6, 'and again');
});

test('core connects with it, over HTTPS, as that ServiceAccount, and may do what a drain takes and no more', async (t) => {
  const stage = await createHarness(t, { startTime: systemClock.now() });
  const { handle, identity } = stage.kubernetes;
  const served = await serve({ handle, identity, host: '127.0.0.1', port: 0 });
  t.after(() => served.close());
  stage.world.address = async () => served.url;
  await stage.start();
  const text = await stage.kubeconfig();
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
  await grantPolicyRules(stage.client.create, 'capi-remote', { account }, { clusterWide: remoteRights });
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

test('a Secret that is gone or was damaged is written anew, once', async (t) => {
  const stage = await createHarness(t);
  await stage.start();
  const damages: [string, () => Promise<unknown>][] = [
    ['deleted', stage.deleteSecret],
    ['value emptied', () => stage.patchSecret({ data: { value: '' } })],
    ['value replaced', () => stage.patchSecret({ data: { value: Buffer.from('kind: Config').toString('base64') } })],
    ['label removed', () => stage.patchSecret({ metadata: { labels: { 'cluster.x-k8s.io/cluster-name': null } } })],
    ['memory removed', () => stage.patchSecret({ metadata: { annotations: { [annotations.kubeconfigToken]: null } } })],
    [
      'memory edited',
      async () => {
        const edited = JSON.stringify({ ...(await stage.memory()), expires: '2099-01-01T00:00:00Z' });
        await stage.patchSecret({ metadata: { annotations: { [annotations.kubeconfigToken]: edited } } });
      },
    ],
    ['immutable, and its label removed', () => stage.patchSecret({ immutable: true, metadata: { labels: null } })],
  ];
  let before = await stage.kubeconfig();
  for (const [name, damage] of damages) {
    const count = stage.mints().length;
    await damage();
    const after = await stage.kubeconfig();
    assert.notEqual(after, before, name);
    const secret = await stage.secret();
    assert.equal(secret.metadata.labels?.['cluster.x-k8s.io/cluster-name'], 'macs', name);
    assert.equal(await stage.reasonOf('Available'), 'Available', name);
    await stage.pass(30);
    assert.ok(stage.mints().length - count <= 3, name);
    before = await stage.kubeconfig();
    assert.equal(before, after, name);
  }
});

test('what others wrote on the Secret stays', async (t) => {
  const stage = await createHarness(t);
  await stage.start();
  await stage.patchSecret({ metadata: { labels: { theirs: 'x' }, annotations: { note: 'y' } }, data: { value: '' } });
  const { metadata } = await stage.secret();
  assert.equal(metadata.labels?.['theirs'], 'x');
  assert.equal(metadata.annotations?.['note'], 'y');
});

test('another address, another spec.server and another ServiceAccount each ask for a new kubeconfig', async (t) => {
  const stage = await createHarness(t);
  await stage.start();
  stage.world.address = async () => 'https://10.0.0.2:443/';
  await stage.pass(11);
  assert.match(await stage.kubeconfig(), /"https:\/\/10\.0\.0\.2:443"/);
  const body = { spec: { server: 'https://api.example:6443' } };
  await stage.client.patch(externalControlPlane.resource, { namespace, name: 'macs' }, { type: 'merge', body });
  await stage.pass(1);
  assert.match(await stage.kubeconfig(), /"https:\/\/api\.example:6443"/);
  const { account } = await stage.memory();
  await stage.removeAccount();
  const { metadata } = await stage.addAccount();
  await stage.pass(11);
  assert.notEqual(account, metadata.uid);
  assert.equal((await stage.memory())['account'], metadata.uid);
});

test('a Secret of another controller is left alone and reported; when it is deleted, ours is created', async (t) => {
  const stage = await createHarness(t);
  await stage.provide('theirs', { ownerReferences: [another] });
  await stage.start();
  await stage.pass(hours(25));
  assert.equal(await stage.kubeconfig(), foreign('theirs'));
  assert.deepEqual(stage.mints(), []);
  assert.equal(await stage.reasonOf('KubeconfigReady'), 'NotOurs');
  assert.equal(await stage.reasonOf('Available'), 'Available');
  await stage.deleteSecret();
  assert.deepEqual(stage.mints(), minted);
  assert.equal(await stage.reasonOf('KubeconfigReady'), 'Minted');
});

test('a Secret that nobody owns is taken over, also one that cannot be changed', async (t) => {
  for (const more of [{}, { immutable: true }, { type: 'Opaque' }]) {
    const stage = await createHarness(t);
    await stage.provide('theirs', { labels: { theirs: 'x' } }, more);
    await stage.start();
    assert.notEqual(await stage.kubeconfig(), foreign('theirs'));
    const { metadata, type } = await stage.secret();
    assert.equal(type, 'cluster.x-k8s.io/secret');
    assert.equal(metadata.ownerReferences?.[0]?.uid, (await stage.get()).metadata.uid);
    assert.equal(await stage.reasonOf('KubeconfigReady'), 'Minted');
  }
});

test('in mode Provided, the minted kubeconfig is kept until somebody writes the Secret, and disowned then', async (t) => {
  const stage = await createHarness(t);
  await stage.setMode('Provided');
  await stage.start();
  assert.deepEqual(stage.mints(), minted);
  assert.equal(await stage.reasonOf('KubeconfigReady'), 'Minted');
  await stage.pass(hours(17));
  assert.equal(stage.mints().length, 4, 'it is kept fresh');
  await stage.patchSecret({
    metadata: { annotations: { note: 'y' } },
    data: { value: Buffer.from(foreign('theirs')).toString('base64') },
  });
  const { metadata } = await stage.secret();
  assert.equal(metadata.ownerReferences, undefined);
  assert.deepEqual(metadata.annotations, { note: 'y' });
  assert.deepEqual(metadata.labels, { 'cluster.x-k8s.io/cluster-name': 'macs' });
  const writes = stage.mints().length;
  await stage.pass(hours(2));
  assert.equal(stage.mints().length, writes);
  assert.equal(await stage.kubeconfig(), foreign('theirs'));
  assert.equal(await stage.reasonOf('KubeconfigReady'), 'Provided');
  assert.equal(await stage.reasonOf('Available'), 'Available');
  assert.equal((await stage.get()).status?.kubeconfigExpires, undefined);
  assert.ok((await stage.messages()).some((message) => message.includes('theirs from now on')));
  await stage.setMode('Minted');
  await stage.pass(1);
  assert.notEqual(await stage.kubeconfig(), foreign('theirs'));
  assert.equal(await stage.reasonOf('KubeconfigReady'), 'Minted');
});

test('a provided kubeconfig that core would not find is left alone and reported as missing', async (t) => {
  const stage = await createHarness(t);
  await stage.setMode('Provided');
  await stage.provide('theirs', { labels: {} });
  await stage.start();
  assert.equal(await stage.kubeconfig(), foreign('theirs'));
  assert.equal(await stage.reasonOf('Available'), 'KubeconfigMissing');
  assert.equal(await stage.reasonOf('KubeconfigReady'), 'NotOurs');
});

test('without the ServiceAccount there is no kubeconfig, and the status says so until there is one', async (t) => {
  const stage = await createHarness(t, { account: false });
  await stage.start();
  assert.equal(await stage.reasonOf('KubeconfigReady'), 'ServiceAccountMissing');
  assert.equal(await stage.reasonOf('Available'), 'KubeconfigMissing');
  assert.deepEqual((await stage.get()).status?.initialization, { controlPlaneInitialized: true });
  await stage.addAccount();
  await stage.pass(11);
  assert.equal(await stage.reasonOf('Available'), 'Available');
});

test('while paused nothing is minted; nor once the deletion has begun', async (t) => {
  const stage = await createHarness(t);
  await stage.setPaused(true);
  await stage.start();
  await stage.pass(30);
  assert.equal(await stage.secretIfThere(), undefined);
  assert.equal(await stage.reasonOf('Paused'), 'Paused');
  assert.equal((await stage.get()).status?.initialization, undefined);
  const held = { metadata: { finalizers: ['example.com/held'] } };
  await stage.client.patch(externalControlPlane.resource, { namespace, name: 'macs' }, { type: 'merge', body: held });
  await stage.client.delete(externalControlPlane.resource, { namespace, name: 'macs' });
  await stage.setPaused(false);
  await stage.pass(30);
  assert.equal(await stage.secretIfThere(), undefined);
});

test('a Secret that somebody writes during a reconcile is read again, not overwritten', async (t) => {
  const stage = await createHarness(t);
  let raced = false;
  stage.interpose((send) => async (request) => {
    if (!raced && request.method === 'PUT' && request.path.includes('/secrets/')) {
      raced = true;
      const body = { metadata: { ownerReferences: [another] } };
      await stage.client.patch(secrets, { namespace, name: 'macs-kubeconfig' }, { type: 'merge', body });
    }
    return send(request);
  });
  await stage.start();
  const before = await stage.kubeconfig();
  await stage.pass(hours(17));
  assert.ok(raced);
  assert.ok(
    (await stage.messages()).every((message) => message.includes('has a new token')),
    'that is no failure',
  );
  assert.equal(await stage.kubeconfig(), before);
  assert.equal(await stage.reasonOf('KubeconfigReady'), 'NotOurs');
});

test('a token is in the Secret and nowhere else, whatever fails', async (t) => {
  const stage = await createHarness(t);
  const tokens: string[] = [];
  const values: string[] = [];
  let failures = 2;
  stage.interpose((send) => async (request) => {
    const token = /"value":"([^"]+)"/.exec(request.body ?? '')?.[1];
    if (!request.path.includes('/secrets') || token === undefined) return send(request);
    const kubeconfig = Buffer.from(token, 'base64').toString();
    tokens.push(/"token": "([^"]+)"/.exec(kubeconfig)?.[1] ?? assert.fail('no token in the kubeconfig'));
    values.push(token);
    failures -= 1;
    if (failures < 0) return send(request);
    throw new KubeError('serverError', `a server that quotes what it was sent: _${tokens.at(-1)} _${token}`);
  });
  await stage.start();
  await stage.pass(10);
  assert.equal(tokens.length, 3);
  assert.equal(await stage.reasonOf('Available'), 'Available');
  const messages = await stage.messages();
  assert.ok(
    messages.some((message) => message.includes('quotes what it was sent')),
    'the failure is told of',
  );
  const { data: _, ...secret } = await stage.secret();
  const told = [JSON.stringify(await stage.get()), JSON.stringify(secret), ...messages, ...stage.lines].join('\n');
  for (const value of values) assert.ok(!told.includes(value));
  for (const token of tokens) assert.ok(!told.includes(token.slice(0, 30)) && !told.includes(token.slice(-20)));
  assert.ok(!told.includes(Buffer.from(await stage.kubeconfig()).toString('base64')));
});

test('a rotation that fails leaves the control plane available until the old token expires', async (t) => {
  const stage = await createHarness(t);
  await stage.start();
  stage.interpose((send) => async (request) => {
    if (request.path.includes('/capi-remote/token'))
      throw new KubeError('forbidden', 'serviceaccounts/token is forbidden');
    return send(request);
  });
  await stage.pass(hours(17));
  assert.equal(await stage.reasonOf('KubeconfigReady'), 'MintFailed');
  assert.equal(await stage.reasonOf('Available'), 'Available');
  await stage.pass(hours(8));
  assert.equal(await stage.reasonOf('Available'), 'KubeconfigMissing');
  assert.equal((await stage.get()).status?.ready, false);
  const failures = (await stage.messages()).filter((message) => message.includes('is forbidden'));
  assert.equal(failures.length, 1, 'told of once');
});

test('an address that is not HTTPS gets no token', async (t) => {
  const stage = await createHarness(t);
  stage.world.address = async () => 'http://10.0.0.1:80';
  await stage.start();
  assert.equal(await stage.reasonOf('KubeconfigReady'), 'MintFailed');
  assert.deepEqual(stage.mints(), []);
});
