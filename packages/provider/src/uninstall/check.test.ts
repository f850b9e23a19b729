import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { machine, macHost } from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import {
  createClient,
  customResourceDefinitions,
  grantPolicyRules,
  inProcessTransport,
  isKubeError,
  KubeError,
  namespaces,
} from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { testDeadline } from '@tartan/kube/testing';
import { adminKubeconfig, createKubernetes, serve } from '@tartan/sim-kubernetes';
import { runCaptured } from '../hooks/testing/run-captured.ts';
import { observe, runCheck, uninstallRights } from './check.ts';

const namespace = 'macs';
const account = { namespace, name: 'guard' };

const setUp = async (t: TestContext, { defined = true } = {}) => {
  const kubernetes = await createKubernetes({ clock, controllers: false });
  t.after(() => kubernetes.stop());
  const as = (commonName: string, ...organizations: string[]) =>
    inProcessTransport(kubernetes.handle, { user: { commonName, organizations } });
  const admin = createClient(as('admin', 'system:masters'), { clock });
  for (const each of [namespace, 'others'])
    await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: each } });
  if (defined) for (const definition of definitions) await admin.create(customResourceDefinitions, definition);
  const { clusterWide, inNamespace } = uninstallRights;
  await grantPolicyRules(
    admin.create,
    account.name,
    { account },
    { clusterWide, inNamespace: { [namespace]: inNamespace } },
  );
  return {
    kubernetes,
    transport: as(`system:serviceaccount:${namespace}:${account.name}`),
    addMachine: (called: string, where = namespace) =>
      admin.create(machine.resource, machine.make({ metadata: { name: called, namespace: where } })),
    removeMachine: (called: string) => admin.delete(machine.resource, { name: called, namespace }),
    addHost: (called: string) =>
      admin.create(
        macHost.resource,
        macHost.make({
          metadata: { name: called },
          spec: {
            zone: 'fr-par-1',
            release: { poolPrefix: 'tuist-pool-', reason: 'MachineDeleted', requestedAt: '2026-01-02T12:00:00Z' },
          },
        }),
      ),
  };
};

const retryOptions = () => ({ clock, signal: testDeadline() });
const namesOf = (objects: readonly { metadata: { name: string } }[]) => objects.map(({ metadata }) => metadata.name);

describe('observe', () => {
  test('reads machines of its namespace and Macs of the cluster, with the rights of the table', async (t) => {
    const { transport, addMachine, addHost } = await setUp(t);
    await addMachine('ours');
    await addMachine('theirs', 'others');
    await addHost('mac');
    const client = createClient(transport, { clock });
    const { machines, hosts } = await observe(client, namespace, retryOptions());
    assert.deepEqual([namesOf(machines), namesOf(hosts)], [['ours'], ['mac']]);
    await assert.rejects(observe(client, 'others', retryOptions()), (error) => isKubeError(error, 'forbidden'));
  });

  test('finds nothing when our kinds are not defined', async (t) => {
    const { transport } = await setUp(t, { defined: false });
    const found = await observe(createClient(transport, { clock }), namespace, retryOptions());
    assert.deepEqual(found, { machines: [], hosts: [] });
  });

  test('an unreachable server is retried', async (t) => {
    const { transport, addMachine } = await setUp(t);
    await addMachine('ours');
    let calls = 0;
    const client = createClient(
      {
        ...transport,
        send: (request) => {
          if (calls++ === 0) throw new KubeError('unreachable', 'The connection broke');
          return transport.send(request);
        },
      },
      { clock },
    );
    const { machines } = await observe(client, namespace, retryOptions());
    assert.deepEqual(namesOf(machines), ['ours']);
  });
});

describe('the uninstall check as a program', () => {
  const run = (argv: readonly string[], env?: NodeJS.ProcessEnv) => runCaptured(runCheck, argv, env);

  test('over HTTPS: refuses while a machine exists, then succeeds silently', async (t) => {
    const { kubernetes, addMachine, removeMachine } = await setUp(t);
    const { handle, identity } = kubernetes;
    const server = await serve({ handle, identity, port: 0 });
    t.after(() => server.close());
    const folder = await mkdtemp(join(tmpdir(), 'tartan-uninstall-'));
    t.after(() => rm(folder, { recursive: true }));
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, await adminKubeconfig(identity, server.url));
    const argv = [`--kubeconfig=${kubeconfig}`, `--namespace=${namespace}`, '--release=tartan'];
    await addMachine('ours');
    const refused = await run(argv);
    assert.deepEqual([refused.code, refused.out], [1, '']);
    assert.match(refused.err, /^tartan is not uninstalled.*\n {2}1 machine in the namespace macs: ours\n/);
    await removeMachine('ours');
    assert.deepEqual(await run(argv), { code: 0, out: '', err: '' });
  });

  test('reports usage errors and an unreachable server', async () => {
    const wrong = await run(['--nonsense']);
    assert.deepEqual([wrong.code, wrong.out], [2, '']);
    assert.match(wrong.err, /nonsense.*\n--help shows what there is\.\n$/);
    const lost = await run([], { HOME: '/nonexistent' });
    assert.equal(lost.code, 1);
    assert.match(lost.err, /^Nobody could tell.*No cluster is configured.*\n.*--no-hooks/);
    assert.match((await run(['--help'])).out, /Exit codes: 0 /);
    assert.match((await run(['--version'])).out, /^\d+\.\d+\.\d+\n$/);
  });
});
