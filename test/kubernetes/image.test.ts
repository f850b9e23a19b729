import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { leaderElectionID } from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import { createClient, customResourceDefinitions, httpsTransport, leases, namespaces } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { installRights, parseFlags, providerRights } from '@tartan/provider';
import { runnersRBACRules } from '@tartan/runners';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { canRunContainers } from '@tartan/sim-linux-node';
import { startScaleway } from '@tartan/sim-scaleway';
import { assembleImage, imageFiles } from '@tartan/tools-build';
import { type ControlPlane, startControlPlane } from '@tartan/tools-kubernetes';
import { accountWith } from './image/accounts.ts';
import { startInImage } from './image/in-image.ts';

const namespace = 'tartan';
const scaleway = {
  accessKey: 'SCWXXXXXXXXXXXXXXXXX',
  secretKey: '11111111-2222-4333-8444-555555555555',
  projectID: '9a1f7c52-0d7e-4a2b-8f43-3c2d1b0a9e87',
};
/** On a port that the program chooses itself: another process could take one that is chosen here. */
const probes = '--health-probe-bind-address=127.0.0.1:0';
const node = '/usr/local/bin/node';
const manager = [node, '/opt/tartan/manager.mjs'];
const installer = [node, '/opt/tartan/install-crds.mjs'];
const uninstallCheck = [node, '/opt/tartan/check-uninstall.mjs'];

const skip = !canRunContainers() && 'neither root nor user namespaces: no other root for a process here';

describe('the image, assembled without a daemon', { skip }, () => {
  let folder: string;
  let plane: ControlPlane | undefined;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tartan-image-'));
    [plane] = await Promise.all([startControlPlane(), assembleImage({ folder })]);
  });
  after(async () => {
    await plane?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** The environment of every Pod: the address of the API server, and its token. */
  const asPod = async (t: TestContext, token: string) => {
    assert.ok(plane);
    const place = await mkdtemp(join(tmpdir(), 'tartan-account-'));
    t.after(() => rm(place, { recursive: true }));
    await chmod(place, 0o755);
    for (const [name, text] of Object.entries({ token, 'ca.crt': plane.caCertificate, namespace }))
      await writeFile(join(place, name), text);
    const { hostname, port } = new URL(plane.url);
    return {
      env: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
      mounts: [{ folder: place, path: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true }],
    };
  };

  const asAdmin = (t: TestContext) => {
    assert.ok(plane);
    const { url: server, caCertificate: ca, clientCertificate: cert, clientKey: key } = plane;
    const transport = httpsTransport({ server, ca, clock, credentials: () => ({ certificate: { cert, key } }) });
    t.after(() => transport.close());
    return { transport, client: createClient(transport, { clock }) };
  };

  test('has every file of its layout', async () => {
    for (const { path } of imageFiles) assert.ok((await stat(join(folder, path))).size > 0, path);
    assert.equal((await stat(folder)).mode & 0o777, 0o755, 'others may enter');
  });

  test('its programs print their version as an unprivileged user, on a read-only root file system', async (t) => {
    const says = async (...command: string[]) => (await (await startInImage(t, folder, command)).ended).said;
    assert.match(await says(...manager, '--version'), /^\d+\.\d+\.\d+\n$/);
    assert.match(await says(...manager, '--help'), /^The Cluster API provider/);
    assert.match(await says(...installer, '--help'), /^Brings Tartan's custom resource definitions/);
    assert.match(await says(...uninstallCheck, '--help'), /^Says whether a release of Tartan can be uninstalled/);
    assert.match(await says(node, '/opt/tartan/runners.mjs', '--help'), /^The controller of GitHub Actions runners/);
    assert.match(await says(node, '/opt/tart-kubelet/tart-kubelet.mjs', '--version'), /^v\d/);
    const tries = `require('fs').writeFileSync('/tmp/x', '')`;
    assert.match(await says(node, '-e', tries), /EROFS/);
    if (process.getuid?.() === 0) assert.equal(await says(node, '-p', 'process.getuid()'), '65532\n');
  });

  test('the definitions are installed by a ServiceAccount with no other rights', async (t) => {
    const admin = asAdmin(t);
    await admin.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const token = await accountWith(admin, 'installer', namespace, { clusterWide: installRights, inNamespace: {} });
    const pod = await asPod(t, token);
    const install = async () => (await startInImage(t, folder, installer, pod)).ended;
    const [first] = definitions;
    const name = first?.metadata?.name ?? '';
    const each = (what: string): string => definitions.map(({ metadata }) => `${metadata?.name} ${what}\n`).join('');
    assert.deepEqual(await install(), { code: 0, said: each('created') });
    assert.deepEqual(await install(), { code: 0, said: each('is up to date') });

    // As an older release, and Helm, would have left it.
    await admin.client.patch(
      customResourceDefinitions,
      { name },
      {
        type: 'json',
        body: [
          { op: 'add', path: '/metadata/annotations', value: { 'meta.helm.sh/release-name': 'tartan' } },
          { op: 'remove', path: '/spec/versions/0/schema/openAPIV3Schema/x-kubernetes-validations' },
          { op: 'remove', path: '/spec/versions/0/schema/openAPIV3Schema/properties/status' },
        ],
      },
    );
    const upgraded = await install();
    assert.equal(upgraded.code, 0);
    assert.match(upgraded.said, new RegExp(`^${name} replaced\n`));
    const { metadata, spec } = await admin.client.get(customResourceDefinitions, { name });
    assert.deepEqual(metadata.annotations, { 'meta.helm.sh/release-name': 'tartan' });
    assert.ok(spec.versions[0]?.schema?.openAPIV3Schema?.properties?.['status']);
  });

  test('the manager is ready with only its ServiceAccount, and exits on SIGTERM', async (t) => {
    const admin = asAdmin(t);
    for (const definition of coreDefinitions()) await admin.client.create(customResourceDefinitions, definition);
    const flags = [`--secrets-namespace=${namespace}`, '--metrics-bind-address=0', probes];
    const parsed = parseFlags(flags, {});
    assert.ok('options' in parsed);
    const token = await accountWith(admin, 'manager', namespace, providerRights(parsed.options));
    const cloud = await startScaleway(scaleway);
    t.after(() => cloud.stop());
    const pod = await asPod(t, token);
    const running = await startInImage(t, folder, [...manager, ...flags], {
      ...pod,
      env: {
        ...pod.env,
        SCW_ACCESS_KEY: scaleway.accessKey,
        SCW_SECRET_KEY: scaleway.secretKey,
        SCW_DEFAULT_PROJECT_ID: scaleway.projectID,
        SCW_API_URL: cloud.url,
      },
    });
    assert.doesNotMatch(await endedOnceReady(running), /forbidden|EROFS|EACCES/i);
    const lease = await admin.client.get(leases, { namespace, name: leaderElectionID });
    assert.equal(lease.spec?.holderIdentity ?? '', '', 'the lease is given back');
  });

  test('the runners controller is ready with only its ServiceAccount, and exits on SIGTERM', async (t) => {
    const admin = asAdmin(t);
    const rights = runnersRBACRules({ namespace, leaderElection: { namespace } });
    const pod = await asPod(t, await accountWith(admin, 'runners', namespace, rights));
    const command = [node, '/opt/tartan/runners.mjs', '--metrics-bind-address=0', probes];
    const env = { ...pod.env, POD_NAMESPACE: namespace };
    const running = await startInImage(t, folder, command, { ...pod, env });
    assert.doesNotMatch(await endedOnceReady(running), /forbidden|EROFS|EACCES/i);
  });
});

/** Waits until a program is ready, and terminates it; it must exit cleanly. Returns its output. */
const endedOnceReady = async (running: Awaited<ReturnType<typeof startInImage>>): Promise<string> => {
  let early: string | undefined;
  void running.ended.then(({ code, said }) => (early = `it ended with ${code}:\n${said}`));
  await eventually('it is ready', async () => {
    assert.equal(early, undefined);
    const [, port] = /The health server listens.*"port":(\d+)/.exec(await running.said()) ?? [];
    return port !== undefined && (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
  });
  running.kill('SIGTERM');
  const { code, said } = await running.ended;
  assert.equal(code, 0, said);
  return said;
};
