import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { machine, macHost } from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import {
  type Client,
  customResourceDefinitions,
  defineResource,
  deployments,
  namespaces,
  serviceAccounts,
} from '@tartan/kube';
import { uninstallRights } from '@tartan/provider';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { connect, untilServed } from '@tartan/sim-fleet';
import { canRunContainers, type LinuxNode, startLinuxNode } from '@tartan/sim-linux-node';
import { assembleImage, imageUser } from '@tartan/tools-build';
import { type ControlPlane, startControlPlane } from '@tartan/tools-kubernetes';
import { chart, helm, type CommandResult } from './chart/helm.ts';
import { namespace, only, render } from './chart/render.ts';
import { withoutCapi } from './chart/value-sets.ts';

const name = 'tartan-uninstall';
const jobs = defineResource({ group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs', namespaced: true });

describe('the guard before helm uninstall', () => {
  test('is a hook with its own rights, and is kept for reading after a refusal', async () => {
    const objects = (await render()).filter(({ metadata }) => metadata.name === name);
    assert.deepEqual(
      objects.map(({ kind }) => kind),
      ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding', 'Job'],
    );
    const weights = objects.map(({ kind, metadata: { annotations = {} } }) => {
      assert.equal(annotations['helm.sh/hook'], 'pre-delete', kind);
      assert.equal(annotations['helm.sh/hook-delete-policy'], 'before-hook-creation,hook-succeeded', kind);
      return Number(annotations['helm.sh/hook-weight']);
    });
    const ofJob = weights.pop() ?? 0;
    assert.ok(weights.every((weight) => weight < ofJob));
    assert.deepEqual(only(objects, 'ClusterRole')['rules'], uninstallRights.clusterWide);
    assert.deepEqual(only(objects, 'Role')['rules'], uninstallRights.inNamespace);
    for (const kind of ['ClusterRoleBinding', 'RoleBinding'])
      assert.deepEqual(only(objects, kind)['subjects'], [{ kind: 'ServiceAccount', namespace, name }]);
  });

  test('its Job prints the remaining objects once, and helm shows it', async () => {
    const { metadata, spec } = only(await render(), 'Job', name);
    assert.equal(metadata.annotations?.['helm.sh/hook-output-log-policy'], 'hook-failed');
    assert.equal(spec.backoffLimit, 0);
    assert.ok(spec.activeDeadlineSeconds < 300, 'before helm gives up by itself');
    const [{ command, args }] = spec.template.spec.containers;
    assert.deepEqual(command, ['/usr/local/bin/node', '/opt/tartan/check-uninstall.mjs']);
    assert.deepEqual(args, [`--namespace=${namespace}`, '--release=tartan']);
  });

  test('can be switched off, and is missing if nothing is installed', async () => {
    for (const values of [{ uninstall: { guard: false } }, withoutCapi])
      assert.deepEqual(
        (await render(values)).filter(({ metadata }) => metadata.name === name),
        [],
      );
  });
});

const skip = canRunContainers() ? false : 'the stand-in for Linux Nodes needs a Linux that lets it mount';

describe('helm uninstall on a real API server', { skip }, () => {
  let folder: string;
  let plane: ControlPlane | undefined;
  let node: LinuxNode | undefined;
  let client: Client;
  let close = (): void => {};
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tartan-uninstall-'));
    const image = join(folder, 'image');
    const [started] = await Promise.all([
      startControlPlane({ controllerManager: true, scheduler: true }),
      // No agent is rolled here.
      assembleImage({ folder: image, artifacts: { 'tart-kubelet': import.meta.filename } }),
    ]);
    plane = started;
    const { client: admin, transport, url } = await connect(plane.adminKubeconfigPath);
    client = admin;
    close = () => transport.close();
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const kinds = [...definitions, ...coreDefinitions()];
    for (const each of kinds) await client.create(customResourceDefinitions, each);
    await untilServed(client, kinds);
    const images = new Map([['tartan:test', { folder: image, user: imageUser }]]);
    node = await startLinuxNode({ name: 'linux', transport, url, folder: join(folder, 'node'), images, secondMs: 100 });
  });
  after(async () => {
    await node?.stop();
    close();
    await plane?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** The manager waits for a Secret that does not exist: it has nothing to do here. */
  const values = { provider: { image: { tag: 'test' } } };
  const run = (args: readonly string[], given?: object): Promise<CommandResult> =>
    helm([...args, '--namespace', namespace], given, {
      ...process.env,
      KUBECONFIG: plane?.adminKubeconfigPath,
      HOME: folder,
    });
  const done = async (args: readonly string[], given?: object): Promise<CommandResult> => {
    const said = await run(args, given);
    assert.equal(said.code, 0, said.stderr);
    return said;
  };
  const upgrade = ['upgrade', '--install', 'tartan', chart, '--no-hooks', '--skip-crds'];
  const uninstall = ['uninstall', 'tartan', '--timeout', '300s'];
  /** The output of all guards so far. */
  const saidByGuards = async (): Promise<string> => {
    const logs = node?.logs ?? '';
    const files = (await readdir(logs)).filter((file) => file.includes(name));
    return (await Promise.all(files.map((file) => readFile(join(logs, file), 'utf8')))).join('');
  };
  const namesOf = async (list: Promise<{ items: readonly { metadata: { name: string } }[] }>): Promise<string[]> =>
    (await list).items.map(({ metadata }) => metadata.name);

  test('is refused while a machine exists, and nothing is lost', async () => {
    await done(upgrade, values);
    await client.create(machine.resource, machine.make({ metadata: { name: 'left', namespace } }));
    const { code, stderr } = await run(uninstall);
    assert.notEqual(code, 0, 'helm uninstalled it');
    assert.match(stderr, /Job\/macs\/tartan-uninstall not ready.*Failed/);
    assert.match(await saidByGuards(), /1 machine in the namespace macs: left\n/);
    assert.deepEqual(await namesOf(client.list(deployments, { namespace })), ['tartan-provider']);
    assert.deepEqual(await namesOf(client.list(jobs, { namespace })), [name], 'to be read');
    assert.ok(!(await namesOf(client.list(serviceAccounts, { namespace }))).includes(name), 'its rights are gone');
  });

  test('a release whose uninstall was refused can be upgraded after a rollback to itself', async () => {
    const { code, stderr } = await run(
      upgrade.filter((flag) => flag !== '--install'),
      values,
    );
    assert.notEqual(code, 0, 'helm took it for deployed: docs/install.md and the guard need not speak of it any more');
    assert.match(stderr, /has no deployed releases/);
    await done(['rollback', 'tartan', '1']);
    await done(upgrade, values);
  });

  test('is refused while a Mac is being released', async () => {
    await client.delete(machine.resource, { name: 'left', namespace });
    const requestedAt = '2026-01-02T12:00:00Z';
    const release = { poolPrefix: 'tuist-pool-', reason: 'MachineDeleted', requestedAt } as const;
    await client.create(
      macHost.resource,
      macHost.make({ metadata: { name: 'mac' }, spec: { zone: 'fr-par-1', release } }),
    );
    assert.notEqual((await run(uninstall)).code, 0, 'helm uninstalled it');
    assert.match(await saidByGuards(), /1 Mac being released to the pool: mac\n/);
    await client.delete(macHost.resource, { name: 'mac' });
  });

  test('succeeds when nothing is left, and the guard is deleted', async () => {
    await done(uninstall);
    assert.deepEqual(await namesOf(client.list(deployments, { namespace })), []);
    assert.deepEqual(await namesOf(client.list(jobs, { namespace })), []);
    assert.ok(!(await namesOf(client.list(serviceAccounts, { namespace }))).includes(name));
  });
});
