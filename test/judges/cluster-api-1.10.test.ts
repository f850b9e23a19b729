import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { formatProviderID, machine } from '@tartan/api';
import { type Client, nodes } from '@tartan/kube';
import {
  artifactFlags,
  connect,
  createInstaller,
  ensureSSHKey,
  fleetNamespace as namespace,
  installProvider,
  type MacPool,
  providerFlags,
  startMacPool,
  useExistingCluster,
  writeProviderKubeconfig,
} from '@tartan/sim-fleet';
import { type ClusterApi, startClusterApi, startControlPlane } from '@tartan/tools-kubernetes';
import { startProvider } from '../system/provider.ts';
import { createWaits, type Waits } from '../system/waits.ts';
import { createFleet, machineDeployments, machines } from './fleet-v1beta1.ts';

const fleet = 'macos';
const pace = 0.01;

/** The original ran under this version. It only knows contract v1beta1, and serves no other version of its kinds. */
describe('the provider under Cluster API core 1.10', () => {
  const stops: (() => unknown)[] = [];
  const log: string[] = [];
  let core: ClusterApi;
  let client: Client;
  let macs: MacPool;
  let waits: Waits;

  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tartan-core-1.10-'));
    stops.push(() => rmSync(folder, { recursive: true, force: true }));
    const real = await startControlPlane({ controllerManager: true });
    stops.push(real.stop);
    core = await startClusterApi(real, { version: '1.10' });
    stops.push(core.stop);
    const plane = await useExistingCluster(real.adminKubeconfigPath);
    stops.push(plane.stop);
    ({ client } = plane);
    waits = createWaits(client);
    await installProvider(plane, createInstaller(client), providerFlags);

    macs = await startMacPool({ folder: join(folder, 'macs'), pace, scalewayPace: pace / 10 });
    stops.push(macs.stop);
    await ensureSSHKey(client, macs.pool, fleet);
    await macs.order(1);
    // With the rights of its own account, which must be enough under this core, too.
    const access = await connect(await writeProviderKubeconfig(plane, folder));
    stops.push(() => access.transport.close());
    const provider = await startProvider({
      controlPlane: access,
      macs,
      flags: await artifactFlags(folder, { version: '0.1.0' }),
      intervals: { hosts: { pollMs: 100 } },
      write: (line) => log.push(line),
    });
    stops.push(provider.stop);
    await createFleet(client, plane.url, fleet);
  });
  after(async () => {
    for (const stop of stops.toReversed()) await stop();
  });

  test('a machine is bound to its Node, and its MachineDeployment is available', async () => {
    const deployment = await waits.waitFor(machineDeployments, fleet, 'is available', ({ status }) => {
      const said = status?.conditions?.find(({ type }) => type === 'Available');
      return status?.availableReplicas === 1 && said?.status === 'True';
    });
    assert.equal(deployment.status?.phase, 'Running');
    const [bound, ...others] = (await client.list(machines, { namespace })).items;
    assert(bound);
    assert.deepEqual(others, []);
    const { name } = bound.metadata;
    const [server] = macs.scaleway.servers();
    const providerID = formatProviderID({ zone: 'fr-par-1', serverID: server?.id ?? '' });
    assert.equal(bound.spec?.['providerID'], providerID);
    assert.equal(bound.status?.phase, 'Running');
    assert.equal(bound.status?.nodeRef?.name, name);
    const node = await client.get(nodes, { name });
    assert.equal(node.spec?.providerID, providerID);
    assert.equal(node.metadata.annotations?.['cluster.x-k8s.io/machine'], name);
    assert.ok((await client.get(machine.resource, { namespace, name })).status?.ready);
  });

  test('a MachineDeployment scaled to zero deletes the Node and releases the Mac', async () => {
    const [{ metadata } = { metadata: { name: '' } }] = (await client.list(machines, { namespace })).items;
    const replicas = { type: 'merge', body: { spec: { replicas: 0 } } } as const;
    await client.patch(machineDeployments, { namespace, name: fleet }, replicas);
    await waits.waitUntilGone(machines, metadata.name);
    await waits.waitUntilGone(nodes, metadata.name);
    assert.match(macs.scaleway.servers()[0]?.name ?? '', /^tuist-(pool|releasing)-/);
  });

  test('no request was forbidden', () => {
    assert.ok(log.some((line) => line.includes('"version":"v1beta1"')));
    const lines = [...log, ...readFileSync(core.log, 'utf8').split('\n')];
    assert.deepEqual(
      lines.filter((line) => /forbidden/i.test(line)),
      [],
    );
  });
});
