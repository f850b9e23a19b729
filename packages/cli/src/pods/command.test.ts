import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { createClient, httpsTransport, namespaces, pods, serviceAccounts } from '@tartan/kube';
import { type Clock, systemClock } from '@tartan/kube/clock';
import { createKubernetes, type Kubernetes, serve } from '@tartan/sim-kubernetes';
import { tartan } from '../program.ts';

/** So that what is deleted now has been deleted for an hour. */
const anHourAgo: Clock = { ...systemClock, now: () => systemClock.now() - 3_600_000 };

/** The real command over HTTPS, with a kubeconfig as kubectl has it. */
describe('tartan pods unstick on a cluster of KUBECONFIG', () => {
  let folder: string;
  let kubernetes: Kubernetes;
  let server: Awaited<ReturnType<typeof serve>>;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-unstick-'));
    kubernetes = await createKubernetes({ clock: anHourAgo, controllers: false });
    const { handle, identity } = kubernetes;
    server = await serve({ handle, identity, host: '127.0.0.1', port: 0 });
    const usages = ['client auth', 'digital signature'] as const;
    const who = { commonName: 'admin', organizations: ['system:masters'], usages, seconds: 24 * 3600 };
    const { certificate: cert, key } = await identity.issue(who);
    const base64 = (content: string): string => Buffer.from(content).toString('base64');
    const ca = identity.caCertificate;
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: server.url, 'certificate-authority-data': base64(ca) } }],
      users: [{ name: 'u', user: { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) } }],
      contexts: [{ name: 'lab', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'lab',
    };
    writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(kubeconfig));

    const credentials = () => ({ certificate: { cert, key } });
    const transport = httpsTransport({ server: server.url, ca, clock: systemClock, credentials });
    const client = createClient(transport, { clock: systemClock });
    const namespace = 'runners';
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const account = { name: 'default', namespace };
    await client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
    await client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'vm', namespace, finalizers: ['tart-kubelet.tuist.dev/vm-cleanup'] },
      spec: { containers: [{ name: 'vm', image: 'macos' }], nodeName: 'mac-gone' },
    });
    await client.delete(pods, { name: 'vm', namespace }, { gracePeriodSeconds: 0 });
    transport.close();
  });
  after(async () => {
    await server.close();
    kubernetes.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = async (args: readonly string[], env: NodeJS.ProcessEnv = { KUBECONFIG: join(folder, 'kubeconfig') }) => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const said = Promise.all([text(stdout), text(stderr)]);
    const { signal } = new AbortController();
    const code = await tartan(['pods', 'unstick', ...args], { stdin, stdout, stderr, env, signal });
    stdout.end();
    stderr.end();
    const [out, err] = await said;
    return { code, out, err };
  };

  test('a dry run, then --apply, then nothing left to do', async () => {
    const shown = await run([]);
    assert.equal(shown.code, 1);
    assert.match(shown.out, /runners +vm +mac-gone +60m +would release +its Node is gone\n/);
    const done = await run(['--apply', '-o', 'json', '--context', 'lab']);
    assert.equal(done.code, 0);
    assert.equal(JSON.parse(done.out).counts.released, 1);
    assert.equal(done.err, '');
    assert.equal((await run(['-n', 'runners', '-l', 'app=x'])).code, 0);
  });

  test('an unreachable cluster or missing kubeconfig exits with 2', async () => {
    const nowhere = await run([], { HOME: folder });
    assert.equal(nowhere.code, 2);
    assert.match(nowhere.err, /^tartan pods unstick: No cluster is configured: .*\n$/);
    const other = await run(['--context', 'nope']);
    assert.equal(other.code, 2);
    assert.match(other.err, /^tartan pods unstick: .*nope/);
    const away = join(folder, 'away');
    writeFileSync(
      away,
      'apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]\nusers: [{name: u, user: {token: t}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n',
    );
    const silent = await run(['--kubeconfig', away]);
    assert.equal(silent.code, 2);
    assert.match(silent.err, /^tartan pods unstick: The cluster does not answer: .* that you are on its network\.\n$/);
  });

  test('invalid arguments are rejected before the cluster is called', async () => {
    const { code, err } = await run(['--output', 'yaml']);
    assert.notEqual(code, 0);
    assert.match(err, /Allowed choices are table, json/);
  });
});
