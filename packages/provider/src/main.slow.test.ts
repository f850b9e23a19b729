import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { leaderElectionID } from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import { createClient, customResourceDefinitions, inProcessTransport, leases, namespaces } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { adminKubeconfig, createKubernetes, serve } from '@tartan/sim-kubernetes';
import { startScaleway } from '@tartan/sim-scaleway';
import { namespace } from './manager/testing/harness.ts';
import { startManager } from './manager/testing/manager-process.ts';

const secretKey = '11111111-2222-4333-8444-555555555555';
const projectID = '9a1f7c52-0d7e-4a2b-8f43-3c2d1b0a9e87';
const accessKey = 'SCWXXXXXXXXXXXXXXXXX';
const credentials = { SCW_ACCESS_KEY: accessKey, SCW_SECRET_KEY: secretKey, SCW_DEFAULT_PROJECT_ID: projectID };
/** Of a suite, whose tests share it: a minute for each. */
const limit = { timeout: 4 * 60_000 };

describe('the manager as a program, with input that it rejects', limit, () => {
  test('--help prints text, also with invalid flags (INC-01)', async (t) => {
    const { code, stdout, stderr } = await startManager(t, ['--nonsense', '--help']).ended;
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /--orphan-reclaim-zones/);
    assert.match(stdout, /SCW_SECRET_KEY/);
  });

  test('--version', async (t) => {
    const { code, stdout } = await startManager(t, ['--version']).ended;
    assert.equal(code, 0);
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  });

  test('an unknown flag is reported with the nearest one, together with every missing variable', async (t) => {
    const { code, stdout, stderr } = await startManager(t, ['--orphan-reclaim-zone=x'], {
      SCW_ACCESS_KEY: accessKey,
    }).ended;
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /--orphan-reclaim-zones/);
    assert.match(stderr, /SCW_SECRET_KEY is not set/);
    assert.match(stderr, /SCW_DEFAULT_PROJECT_ID is not set/);
    assert.doesNotMatch(stderr, /SCW_ACCESS_KEY/);
  });

  test('an unreachable cluster is reported in one line, without a stack', async (t) => {
    const noCluster = await startManager(t, ['--kubeconfig=/nowhere/kubeconfig'], credentials).ended;
    assert.equal(noCluster.code, 1);
    const { level, msg, error } = JSON.parse(noCluster.stderr) as Record<string, unknown>;
    assert.deepEqual([level, msg], ['error', 'The manager cannot start']);
    assert.match(JSON.stringify(error), /\/nowhere\/kubeconfig/);
  });
});

/** A cluster over HTTPS, Scaleway over HTTP, and the files for Macs. */
const setWorld = async (t: TestContext) => {
  const folder = await mkdtemp(join(tmpdir(), 'tartan-manager-'));
  t.after(() => rm(folder, { recursive: true }));
  const kubernetes = await createKubernetes();
  const served = await serve({ ...kubernetes, host: '127.0.0.1', port: 0 });
  t.after(async () => {
    await served.close();
    kubernetes.stop();
  });
  const scaleway = await startScaleway({ accessKey, secretKey, projectID });
  t.after(() => scaleway.stop());
  const user = { commonName: 'admin', organizations: ['system:masters'] };
  const client = createClient(inProcessTransport(kubernetes.handle, { user }), { clock: systemClock });
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (const definition of [...definitions, ...coreDefinitions()])
    await client.create(customResourceDefinitions, definition);
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, await adminKubeconfig(kubernetes.identity, served.url), { mode: 0o600 });
  const file = join(folder, 'artifact');
  await writeFile(file, 'something');
  const argv = [
    `--kubeconfig=${kubeconfig}`,
    `--secrets-namespace=${namespace}`,
    `--agent-runtime-path=${file}`,
    `--agent-release-path=${file}`,
    `--tart-tarball-path=${file}`,
    '--metrics-bind-address=127.0.0.1:0',
    '--health-probe-bind-address=127.0.0.1:0',
  ];
  return { client, argv, env: { ...credentials, SCW_API_URL: scaleway.url }, scaleway };
};

describe('the manager as a process', limit, () => {
  test('leads until SIGTERM, releases the lease, and never logs its key', async (t) => {
    const { client, argv, env } = await setWorld(t);
    const manager = startManager(t, [...argv, '--log-level=debug'], env);
    await manager.logged((line) => line.includes('this process leads'));
    await manager.logged((line) => line.includes('can read all that is needed'));
    const commandLine = await readFile(`/proc/${manager.process.pid}/cmdline`, 'utf8').catch(() => '');
    assert.ok(!commandLine.includes(secretKey));
    const lease = () => client.get(leases, { namespace, name: leaderElectionID });
    assert.notEqual((await lease()).spec?.holderIdentity, '');
    manager.process.kill('SIGTERM');
    const { code, stdout, stderr } = await manager.ended;
    assert.deepEqual([code, stdout], [0, ''], stderr);
    assert.equal((await lease()).spec?.holderIdentity ?? '', '');
    assert.ok(!stderr.includes(secretKey));
    for (const line of stderr.trim().split('\n')) assert.doesNotThrow(() => JSON.parse(line), line);
  });

  test("exports Node's default metrics", async (t) => {
    const { argv, env } = await setWorld(t);
    const manager = startManager(t, [...argv, '--health-probe-bind-address=0'], env);
    const { host, port } = JSON.parse(await manager.logged((line) => line.includes('The health server listens'))) as {
      host: string;
      port: number;
    };
    const body = await (await fetch(`http://${host}:${port}/metrics`)).text();
    for (const name of ['process_cpu_seconds_total', 'nodejs_heap_size_used_bytes'])
      assert.match(body, new RegExp(`^${name} \\d`, 'm'));
  });

  test('does not start without the files for Macs, and names the flags', async (t) => {
    const { argv, env } = await setWorld(t);
    const { code, stderr } = await startManager(t, [...argv, '--tart-tarball-path=/nowhere/tart'], env).ended;
    assert.equal(code, 1);
    assert.match(stderr, /\/nowhere\/tart.*--tart-tarball-path/);
    assert.doesNotMatch(stderr, /this process leads/);
  });

  test('reports refused Scaleway credentials, and keeps running', async (t) => {
    const { argv, env } = await setWorld(t);
    const wrong = '99999999-2222-4333-8444-555555555555';
    const manager = startManager(t, argv, { ...env, SCW_SECRET_KEY: wrong });
    const line = await manager.logged((each) => each.includes('does not let this manager'));
    await manager.logged((each) => each.includes('this process leads'));
    assert.ok(!line.includes(wrong));
    manager.process.kill('SIGINT');
    assert.equal((await manager.ended).code, 0);
  });
});
