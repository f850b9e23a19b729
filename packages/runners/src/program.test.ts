import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { runnersLeaderElectionID } from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import { createClient, customResourceDefinitions, inProcessTransport, leases, namespaces } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { adminKubeconfig, createKubernetes, serve } from '@tartan/sim-kubernetes';
import { runRunners } from './program.ts';

const namespace = 'ci';

const runProgram = async (argv: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  let stdout = '';
  let stderr = '';
  const code = await runRunners(argv, {
    env,
    stdout: (text) => {
      stdout += text;
    },
    stderr: (text) => {
      stderr += text;
    },
    signal: new AbortController().signal,
  });
  return { code, stdout, stderr };
};

describe('the runners program with invalid arguments', () => {
  test('--help prints text, also with invalid flags', async () => {
    const { code, stdout, stderr } = await runProgram(['--nonsense', '--help']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /--settle-seconds/);
  });

  test('--version prints the version', async () => {
    const { code, stdout } = await runProgram(['--version']);
    assert.equal(code, 0);
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  });

  test('all invalid flags are reported at once, without values', async () => {
    const { code, stdout, stderr } = await runProgram(['--github-token=hunter2', '--settle-seconds=soon']);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^--github-token: there is no such flag/m);
    assert.match(stderr, /^--settle-seconds: "soon" is no whole number/m);
    assert.match(stderr, /^--namespace is not set/m);
    assert.doesNotMatch(stderr, /hunter2/);
  });

  test('an unreachable cluster is reported in one line, without a stack', async () => {
    const { code, stderr } = await runProgram([`--namespace=${namespace}`, '--kubeconfig=/nowhere/kubeconfig']);
    assert.equal(code, 1);
    const { level, msg, error } = JSON.parse(stderr) as Record<string, unknown>;
    assert.deepEqual([level, msg], ['error', 'The runners controller cannot start']);
    assert.match(JSON.stringify(error), /\/nowhere\/kubeconfig/);
  });
});

/** A cluster over HTTPS. */
const setWorld = async (t: TestContext) => {
  const folder = await mkdtemp(join(tmpdir(), 'tartan-runners-'));
  t.after(() => rm(folder, { recursive: true }));
  const kubernetes = await createKubernetes();
  const served = await serve({ ...kubernetes, host: '127.0.0.1', port: 0 });
  t.after(async () => {
    await served.close();
    kubernetes.stop();
  });
  const user = { commonName: 'admin', organizations: ['system:masters'] };
  const client = createClient(inProcessTransport(kubernetes.handle, { user }), { clock });
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (const definition of definitions) await client.create(customResourceDefinitions, definition);
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, await adminKubeconfig(kubernetes.identity, served.url), { mode: 0o600 });
  return { client, kubeconfig };
};

describe('the runners controller as a program, in a cluster', { timeout: 60_000 }, () => {
  /** Resolves with the first line of the log that has `text`. */
  const startProgram = async (kubeconfig: string, metricsAddress: string, text: string) => {
    const asked = new AbortController();
    const logged = Promise.withResolvers<string>();
    let log = '';
    const ended = runRunners(
      [`--kubeconfig=${kubeconfig}`, `--metrics-bind-address=${metricsAddress}`, '--health-probe-bind-address=0'],
      {
        env: { POD_NAMESPACE: namespace },
        stdout: (output) => assert.fail(output),
        stderr: (line) => {
          log += line;
          if (line.includes(text)) logged.resolve(line);
        },
        signal: asked.signal,
      },
    );
    void ended.then((code) => logged.reject(new Error(`it ended with ${code}:\n${log}`)));
    const line = await logged.promise;
    const stop = async (): Promise<void> => {
      asked.abort();
      assert.equal(await ended, 0, log);
    };
    return { line, stop, log: () => log };
  };

  test('leads until it gets a signal, then releases the lease', async (t) => {
    const { client, kubeconfig } = await setWorld(t);
    const { stop, log } = await startProgram(kubeconfig, '0', 'this process leads');
    const lease = () => client.get(leases, { namespace, name: runnersLeaderElectionID });
    assert.notEqual((await lease()).spec?.holderIdentity, '');
    await stop();
    assert.equal((await lease()).spec?.holderIdentity ?? '', '');
    for (const line of log().trim().split('\n')) assert.doesNotThrow(() => JSON.parse(line), line);
  });

  test("exports Node's default metrics", async (t) => {
    const { kubeconfig } = await setWorld(t);
    const { line, stop } = await startProgram(kubeconfig, '127.0.0.1:0', 'The health server listens');
    const { host, port } = JSON.parse(line) as { host: string; port: number };
    const body = await (await fetch(`http://${host}:${port}/metrics`)).text();
    await stop();
    for (const name of ['process_cpu_seconds_total', 'nodejs_heap_size_used_bytes'])
      assert.match(body, new RegExp(`^${name} \\d`, 'm'));
  });
});
