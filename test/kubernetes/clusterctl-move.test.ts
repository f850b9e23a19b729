import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { annotations, cluster, externalControlPlane, finalizers, machine, machineTemplate, macHost } from '@tartan/api';
import {
  type Client,
  customResourceDefinitions,
  getCondition,
  type KubeObject,
  type Live,
  nodes,
  type Resource,
  secrets,
} from '@tartan/kube';
import { sleep, systemClock } from '@tartan/kube/clock';
import { testDeadline } from '@tartan/kube/testing';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import {
  artifactFlags,
  clusterName,
  connect,
  coreKinds,
  createInstaller,
  ensureFleets,
  ensureSSHKey,
  fleetNamespace as namespace,
  installProvider,
  type MacPool,
  providerFlags,
  startMacPool,
  useExistingCluster,
  writeProviderKubeconfig,
} from '@tartan/sim-fleet';
import { ensureBinaries, startClusterApi, startControlPlane } from '@tartan/tools-kubernetes';
import { startProvider } from '../system/provider.ts';
import { createWaits, type Waits } from '../system/waits.ts';

const pace = 0.01;
/**
 * `clusterctl init` adds it to everything that it installs (cmd/clusterctl/client/repository/components.go:561), and `move` looks for it.
 */
const clusterctlLabel = 'clusterctl.cluster.x-k8s.io';

type Kept = Pick<Live<KubeObject>, 'metadata'> & { spec?: unknown; data?: unknown };

describe('clusterctl move, which is not supported', () => {
  const stops: (() => unknown)[] = [];
  let client: Client;
  let target: Client;
  let macs: MacPool;
  let waits: Waits;
  let clusterctl: string;
  let kubeconfig: string;
  let targetKubeconfig: string;
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-clusterctl-'));
    stops.push(() => rmSync(folder, { recursive: true, force: true }));
    ({ clusterctl } = await ensureBinaries(['clusterctl']));
    const real = await startControlPlane({ controllerManager: true });
    stops.push(real.stop);
    kubeconfig = real.adminKubeconfigPath;
    const core = await startClusterApi(real);
    stops.push(core.stop);
    const plane = await useExistingCluster(kubeconfig);
    stops.push(plane.stop);
    ({ client } = plane);
    waits = createWaits(client);
    const installer = createInstaller(client);
    await installProvider(plane, installer, providerFlags);
    await labelCore(client);

    const other = await startControlPlane();
    stops.push(other.stop);
    targetKubeconfig = other.adminKubeconfigPath;
    const otherPlane = await connect(targetKubeconfig);
    stops.push(() => otherPlane.transport.close());
    target = otherPlane.client;
    for (const definition of coreDefinitions()) await target.create(customResourceDefinitions, definition);

    macs = await startMacPool({ folder: join(folder, 'macs'), pace, scalewayPace: pace / 10 });
    stops.push(macs.stop);
    await ensureSSHKey(client, macs.pool, 'macos');
    await macs.order(1);
    const access = await connect(await writeProviderKubeconfig(plane, folder));
    stops.push(() => access.transport.close());
    const flags = await artifactFlags(folder, { version: '0.1.0' });
    const provider = await startProvider({ controlPlane: access, macs, flags, intervals: { hosts: { pollMs: 100 } } });
    stops.push(provider.stop);
    await ensureFleets(installer, plane.url, { macos: 1, runners: 0 });
    await waits.waitFor(
      coreKinds.machineDeployments,
      'tartan-macos',
      'is available',
      ({ status }) => status?.availableReplicas === 1,
    );
  });
  after(async () => {
    for (const stop of stops.toReversed()) await stop();
  });

  const labelCore = async (admin: Client): Promise<void> => {
    const { items } = await admin.list(customResourceDefinitions);
    const body = { metadata: { labels: { [clusterctlLabel]: '' } } };
    for (const { metadata, spec } of items)
      if (spec.group.endsWith('cluster.x-k8s.io') && metadata.labels?.['cluster.x-k8s.io/provider'] === 'cluster-api')
        await admin.patch(customResourceDefinitions, { name: metadata.name }, { type: 'merge', body });
  };

  const runMove = async (...more: readonly string[]): Promise<{ code: number | null; said: string }> => {
    const args = ['move', '--kubeconfig', kubeconfig, '--namespace', namespace, ...more];
    const env = { PATH: process.env['PATH'], HOME: folder, CLUSTERCTL_DISABLE_VERSIONCHECK: 'true' };
    const child = spawn(clusterctl, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    stops.push(() => child.kill('SIGKILL'));
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    const [code] = (await once(child, 'close', { signal: testDeadline() })) as [number | null];
    return { code, said };
  };

  /** All that users wrote or controllers decided, without informational status. */
  const everything = async (): Promise<Record<string, Kept>> => {
    const found: Record<string, Kept> = {};
    const look = async <T extends KubeObject>(resource: Resource<T>): Promise<void> => {
      for (const item of (await client.list(resource, resource.namespaced ? { namespace } : {})).items) {
        const {
          managedFields: _fields,
          resourceVersion: _version,
          generation: _generation,
          ...metadata
        } = {
          managedFields: undefined,
          ...item.metadata,
        };
        const { spec, data } = item as Kept;
        found[`${resource.plural}/${item.metadata.name}`] = { metadata, spec, data } as Kept;
      }
    };
    for (const resource of [
      ...Object.values(coreKinds),
      machine.resource,
      machineTemplate.resource,
      cluster.resource,
      externalControlPlane.resource,
      macHost.resource,
    ])
      await look(resource as Resource<KubeObject>);
    await look(secrets);
    await look(nodes);
    return found;
  };
  /** Paths at which the two differ. */
  const differences = (before: unknown, now: unknown, path = ''): string[] => {
    if (JSON.stringify(before) === JSON.stringify(now)) return [];
    if (typeof before !== 'object' || typeof now !== 'object' || before === null || now === null)
      return [`${path}: ${JSON.stringify(before)} → ${JSON.stringify(now)}`];
    const keys = new Set([...Object.keys(before), ...Object.keys(now)]);
    return [...keys].flatMap((key) =>
      differences(Reflect.get(before, key), Reflect.get(now, key), path === '' ? key : `${path} ${key}`),
    );
  };
  const servers = () => macs.scaleway.servers().map(({ id, name, status }) => ({ id, name, status }));
  const onlyMachine = async () => {
    const [found, ...others] = (await client.list(machine.resource, { namespace })).items;
    assert.ok(found);
    assert.deepEqual(others, []);
    return found;
  };

  test('each object that it would move blocks it, and has the reason', async () => {
    const { name } = (await onlyMachine()).metadata;
    const objects: { metadata: KubeObject['metadata']; status?: unknown }[] = [
      await waits.waitFor(machine.resource, name, 'says so', says),
      await waits.waitFor(cluster.resource, clusterName, 'says so', says),
      await waits.waitFor(externalControlPlane.resource, clusterName, 'says so', says),
    ];
    for (const { metadata } of objects) assert.ok(annotations.blockMove in (metadata?.annotations ?? {}));
  });
  const says = ({ status }: { status?: { conditions?: Parameters<typeof getCondition>[0] } }): boolean =>
    getCondition(status?.conditions, 'MoveBlocked')?.reason === 'MacsAreNodesHere';

  test('fails, and changes nothing but the pause of the Cluster', async () => {
    const [before, macsBefore] = [await everything(), servers()];
    const { code, said } = await runMove('--to-kubeconfig', targetKubeconfig);
    assert.equal(code, 1, said);
    assert.match(said, /Move blocked by clusterctl\.cluster\.x-k8s\.io\/block-move annotation/);
    assert.match(said, /error waiting for resources to be ready to move: .*resource is not ready to move/);
    assert.deepEqual(differences(before, await everything()), [
      `clusters/${clusterName} spec paused: undefined → true`,
    ]);
    assert.deepEqual(servers(), macsBefore, 'no Mac was wiped or renamed');
    for (const resource of [coreKinds.clusters, coreKinds.machines])
      assert.deepEqual((await target.list(resource)).items, [], 'nothing arrived');
  });

  test('the paused Cluster that it leaves keeps its Macs, also when a user deletes a machine', async () => {
    const { metadata } = await onlyMachine();
    const { name } = metadata;
    await waits.waitFor(machine.resource, name, 'is paused', ({ status }) => {
      return getCondition(status?.conditions, 'Paused')?.status === 'True';
    });
    const before = servers();
    await client.delete(machine.resource, { namespace, name });
    // The provider reacts at once; two seconds are two hundred times as long as a release takes here.
    await sleep(systemClock, 2_000);
    assert.deepEqual(servers(), before);
    const now = await client.get(machine.resource, { namespace, name });
    assert.ok(now.metadata.finalizers?.includes(finalizers.machine));

    const body = { spec: { paused: null } };
    await client.patch(coreKinds.clusters, { namespace, name: clusterName }, { type: 'merge', body });
    await waits.waitUntilGone(machine.resource, name);
    assert.match(servers()[0]?.name ?? '', /^tuist-(?:pool|releasing)-/);
  });
});
