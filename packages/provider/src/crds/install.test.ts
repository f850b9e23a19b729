import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { type CustomResourceDefinition, definitions } from '@tartan/api/crds';
import {
  createClient,
  customResourceDefinitions,
  grantPolicyRules,
  inProcessTransport,
  isKubeError,
  KubeError,
  type Transport,
} from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { adminKubeconfig, createKubernetes, serve } from '@tartan/sim-kubernetes';
import { runCaptured } from '../hooks/testing/run-captured.ts';
import { installDefinitions, installRights, runInstall } from './install.ts';
import { withExtraField } from './testing/definitions.ts';

const account = { namespace: 'default', name: 'installer' };

const setUp = async (t: TestContext) => {
  const kubernetes = await createKubernetes({ clock, controllers: false });
  t.after(() => kubernetes.stop());
  const as = (commonName: string, ...organizations: string[]) =>
    inProcessTransport(kubernetes.handle, { user: { commonName, organizations } });
  const admin = createClient(as('admin', 'system:masters'), { clock });
  await grantPolicyRules(admin.create, account.name, { account }, { clusterWide: installRights });
  const said: string[] = [];
  const install = (
    wanted?: readonly CustomResourceDefinition[],
    change: (transport: Transport) => Transport = (each) => each,
  ) =>
    installDefinitions({
      client: createClient(change(as(`system:serviceaccount:${account.namespace}:${account.name}`)), { clock }),
      clock,
      say: (line) => said.push(line),
      dropFields: false,
      signal: t.signal,
      ...(wanted && { wanted }),
    });
  const find = (name: string) => admin.get(customResourceDefinitions, { name });
  return { kubernetes, admin, said, install, find };
};

const [first, ...others] = definitions as [CustomResourceDefinition, ...CustomResourceDefinition[]];
const nameOf = ({ metadata }: CustomResourceDefinition): string => metadata?.name ?? '';

describe('installation of CustomResourceDefinitions', () => {
  test('missing definitions are created, and a second run changes nothing', async (t) => {
    const { said, install, find } = await setUp(t);
    await install();
    assert.deepEqual(
      said,
      definitions.map((each) => `${nameOf(each)} created`),
    );
    const { metadata } = await find(nameOf(first));
    said.length = 0;
    await install();
    assert.deepEqual(
      said,
      definitions.map((each) => `${nameOf(each)} is up to date`),
    );
    assert.equal((await find(nameOf(first))).metadata.resourceVersion, metadata.resourceVersion);
  });

  test('a different definition is replaced, with the labels and annotations of others', async (t) => {
    const { admin, said, install, find } = await setUp(t);
    await admin.create(customResourceDefinitions, {
      ...first,
      metadata: { name: nameOf(first), labels: { theirs: 'x' }, annotations: { 'meta.helm.sh/release-name': 'y' } },
    });
    await install([withExtraField(first, 'later')]);
    assert.deepEqual(said, [`${nameOf(first)} replaced`]);
    const { metadata, spec } = await find(nameOf(first));
    assert.deepEqual(metadata.labels, { theirs: 'x', ...first.metadata?.labels });
    assert.deepEqual(metadata.annotations, { 'meta.helm.sh/release-name': 'y' });
    assert.match(JSON.stringify(spec), /"later"/);
  });

  test('a newer definition is kept and reported', async (t) => {
    const { admin, said, install, find } = await setUp(t);
    const before = await admin.create(customResourceDefinitions, withExtraField(first, 'later'));
    await install([first, ...others]);
    assert.match(said[0] ?? '', /left as it is: it is newer than this program, and has v1alpha1\.spec\.later besides$/);
    assert.equal(said.length, definitions.length);
    assert.deepEqual((await find(nameOf(first))).spec, before.spec);
  });

  test('when each definition has fields that the other lacks, the installation is refused', async (t) => {
    const { admin, install } = await setUp(t);
    await admin.create(customResourceDefinitions, withExtraField(first, 'theirs'));
    await assert.rejects(
      install([withExtraField(first, 'ours')]),
      /has v1alpha1\.spec\.theirs, which .* lacks v1alpha1\.spec\.ours\. .* --drop-fields, or the chart with crds\.dropFields\.$/,
    );
  });

  test('after a conflicting write, the definition is read and decided again', async (t) => {
    const { admin, said, install, find } = await setUp(t);
    await admin.create(customResourceDefinitions, first);
    let others = 0;
    await install([withExtraField(first, 'later')], (transport) => ({
      ...transport,
      send: async (request) => {
        if (request.method === 'PUT' && others++ === 0)
          await admin.patch(
            customResourceDefinitions,
            { name: nameOf(first) },
            { type: 'merge', body: { metadata: { labels: { quick: 'yes' } } } },
          );
        return transport.send(request);
      },
    }));
    assert.equal(others, 2);
    assert.deepEqual(said, [`${nameOf(first)} replaced`]);
    assert.equal((await find(nameOf(first))).metadata.labels?.['quick'], 'yes');
  });

  test('a lost response is retried, and a write that was carried out is not repeated', async (t) => {
    const { said, install } = await setUp(t);
    let creates = 0;
    await install([first], (transport) => ({
      ...transport,
      send: async (request) => {
        const answer = await transport.send(request);
        if (request.method === 'POST' && creates++ === 0) throw new KubeError('unreachable', 'The connection broke');
        return answer;
      },
    }));
    assert.equal(creates, 1);
    assert.deepEqual(said, [`${nameOf(first)} is up to date`]);
  });

  test('a definition that is not served is waited for, and reported after the timeout', async (t) => {
    const { admin } = await setUp(t);
    const { names } = first.spec;
    // Another kind has the name already.
    await admin.create(customResourceDefinitions, {
      ...first,
      metadata: { name: `others.${first.spec.group}` },
      spec: { ...first.spec, names: { ...names, plural: 'others', singular: 'other', shortNames: [] } },
    });
    const timeout = new AbortController();
    const expireOnWait = (run: () => void): (() => void) =>
      clock.after(0, () => {
        timeout.abort();
        run();
      });
    const installed = installDefinitions({
      client: admin,
      clock: { ...clock, after: (_ms, run) => expireOnWait(run) },
      say: () => {},
      dropFields: false,
      signal: timeout.signal,
      wanted: [first],
    });
    await assert.rejects(installed, /is not served: .*NamesAccepted.*kubectl describe crd/);
  });

  test('the installer needs exactly the rights of its table, and has none on other definitions', async (t) => {
    const { install } = await setUp(t);
    const other = { ...first, metadata: { name: `others.${first.spec.group}` } };
    await assert.rejects(install([other]), (error) => isKubeError(error, 'forbidden'));
  });
});

describe('the installer as a program', () => {
  const run = (argv: readonly string[], env?: NodeJS.ProcessEnv) => runCaptured(runInstall, argv, env);

  test('installs over HTTPS with a kubeconfig', async (t) => {
    const { kubernetes } = await setUp(t);
    const { handle, identity } = kubernetes;
    const server = await serve({ handle, identity, port: 0 });
    t.after(() => server.close());
    const folder = await mkdtemp(join(tmpdir(), 'tartan-crds-'));
    t.after(() => rm(folder, { recursive: true }));
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, await adminKubeconfig(identity, server.url));
    const { code, out, err } = await run([`--kubeconfig=${kubeconfig}`]);
    assert.deepEqual([code, err], [0, '']);
    assert.equal(out.trim().split('\n').length, definitions.length);
  });

  test('reports usage errors and an unreachable server', async () => {
    const wrong = await run(['--nonsense']);
    assert.deepEqual([wrong.code, wrong.out], [2, '']);
    assert.match(wrong.err, /nonsense.*\n--help shows what there is\.\n$/);
    const lost = await run([], { HOME: '/nonexistent' });
    assert.equal(lost.code, 1);
    assert.match(lost.err, /No cluster is configured/);
    assert.match((await run(['--help'])).out, /Exit codes: 0 /);
    assert.match((await run(['--version'])).out, /^\d+\.\d+\.\d+\n$/);
  });
});
