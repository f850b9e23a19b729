import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  cluster,
  externalControlPlane,
  labels,
  machine,
  machineTemplate,
  macHost,
  remoteServiceAccount,
} from '@tartan/api';
import {
  type Client,
  createLogger,
  defineResource,
  isConditionTrue,
  isKubeError,
  type KubeObject,
  type Live,
  nodes,
  pods,
  secrets,
  serviceAccounts,
} from '@tartan/kube';
import { createClusterApi } from '@tartan/sim-cluster-api';
import { createHarness, type Harness, namespace } from '../crash/harness.ts';
import { fleetName } from '../crash/scenarios/setup.ts';

interface Core extends KubeObject {
  spec?: Record<string, unknown>;
  status?: {
    phase?: string;
    nodeRef?: { name: string };
    conditions?: Parameters<typeof isConditionTrue>[0];
    replicas?: number;
  };
}

const core = (kind: string, plural: string) =>
  defineResource<Core>({ group: 'cluster.x-k8s.io', version: 'v1beta2', kind, plural, namespaced: true });
const clusters = core('Cluster', 'clusters');
const machines = core('Machine', 'machines');
const deployments = core('MachineDeployment', 'machinedeployments');

const hour = 3_600_000;

/** Virtual time stops while a request is in progress. */
const tracked = (client: Client, { time }: Harness): Client => ({
  get: (...args) => time.during(() => client.get(...args)),
  list: (...args) => time.during(() => client.list(...args)),
  watch: (...args) => client.watch(...args),
  create: (...args) => time.during(() => client.create(...args)),
  update: (...args) => time.during(() => client.update(...args)),
  patch: (...args) => time.during(() => client.patch(...args)),
  delete: (...args) => time.during(() => client.delete(...args)),
});

describe('the provider with the simulated Cluster API', () => {
  let harness: Harness;
  let running: Promise<unknown>;
  const over = new AbortController();
  const here = (name: string): { namespace: string; name: string } => ({ namespace, name });
  const refTo = (apiGroup: string, kind: string, name: string) => ({ apiGroup, kind, name });

  before(async () => {
    harness = await createHarness();
    const client = tracked(harness.admin, harness);
    const log = createLogger({ write: () => {}, clock: harness.time, level: 'error' });
    const clusterApi = createClusterApi({
      client,
      evictPod: async (pod) => void (await client.delete(pods, pod)),
      clock: harness.time,
      random: Math.random,
      log,
    });
    running = clusterApi.run(over.signal);
    harness.startManager({ version: '1' });
    await harness.order();
    await harness.order();
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: here(remoteServiceAccount) } as const;
    await harness.admin.create(serviceAccounts, account);
    await harness.admin.create(cluster.resource, cluster.make({ metadata: here('macs') }));
    const server = 'https://192.0.2.1:6443';
    await harness.admin.create(
      externalControlPlane.resource,
      externalControlPlane.make({ metadata: here('macs'), spec: { serviceAccountName: remoteServiceAccount, server } }),
    );
    await harness.admin.create(
      machineTemplate.resource,
      machineTemplate.make({ metadata: here('first'), spec: { template: { spec: { fleetName } } } }),
    );
    const infrastructure = 'infrastructure.cluster.x-k8s.io';
    await harness.admin.create(clusters, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: here('macs'),
      spec: {
        infrastructureRef: refTo(infrastructure, 'ScalewayAppleSiliconCluster', 'macs'),
        controlPlaneRef: refTo('controlplane.cluster.x-k8s.io', 'ExternalControlPlane', 'macs'),
      },
    });
    // As little as a user would write: defaults fill in the rest.
    await harness.admin.create(deployments, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineDeployment',
      metadata: here('fleet'),
      spec: {
        clusterName: 'macs',
        template: {
          spec: {
            bootstrap: { dataSecretName: 'nothing' },
            infrastructureRef: refTo(infrastructure, 'ScalewayAppleSiliconMachineTemplate', 'first'),
          },
        },
      },
    });
  });
  after(async () => {
    over.abort();
    await harness.time.pass(60_000);
    await running;
    harness.stop();
  });

  const all = async (): Promise<Live<Core>[]> => (await harness.admin.list(machines, { namespace })).items;
  /** Checks once per minute. */
  const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
    for (let passed = 0; passed < 2 * hour; passed += 60_000) {
      if (await holds()) return;
      await harness.time.pass(60_000);
    }
    assert.fail(
      `waited in vain until ${what}: ${JSON.stringify(await all(), undefined, 1)}${harness.lines.slice(-20).join('')}`,
    );
  };

  test('a machine cloned from a template claims a Mac, joins, and its Machine is bound to the Node', async () => {
    await until('the Machine runs', async () => (await all()).some(({ status }) => status?.phase === 'Running'));
    const [owner] = await all();
    assert(owner);
    const { name } = owner.metadata;
    const made = await harness.admin.get(machine.resource, here(name));
    assert.equal(made.spec.fleetName, fleetName);
    assert.equal(made.metadata.labels?.[labels.clusterName], 'macs');
    assert.deepEqual(
      (made.metadata.ownerReferences ?? []).map(({ kind, uid, controller }) => ({ kind, uid, controller })),
      [{ kind: 'Machine', uid: owner.metadata.uid, controller: true }],
    );
    assert.equal(owner.spec?.['providerID'], made.spec.providerID);
    assert.equal(owner.status?.nodeRef?.name, name);
    assert.ok(isConditionTrue(owner.status?.conditions, 'NodeReady'));
    assert.ok(isConditionTrue(owner.status?.conditions, 'InfrastructureReady'));
    assert.equal((await harness.admin.get(nodes, { name })).spec?.providerID, made.spec.providerID);
  });

  test('the control plane object provides the kubeconfig by which Machines are bound', async () => {
    const found = await harness.admin.get(secrets, here('macs-kubeconfig'));
    assert.equal(found.metadata.labels?.[labels.clusterName], 'macs');
    const { status } = await harness.admin.get(clusters, here('macs'));
    assert.ok(isConditionTrue(status?.conditions, 'RemoteConnectionProbe'));
    assert.ok(isConditionTrue(status?.conditions, 'ControlPlaneInitialized'));
  });

  test('a MachineDeployment scaled to zero releases and wipes the Mac, and its Node is deleted', async () => {
    const [before] = await all();
    const name = before?.metadata.name ?? '';
    await harness.admin.patch(deployments, here('fleet'), { type: 'merge', body: { spec: { replicas: 0 } } });
    await until('the Machine is gone', async () => (await all()).length === 0);
    await assert.rejects(harness.admin.get(nodes, { name }), (error) => isKubeError(error, 'notFound'));
    await until('all Macs are in the pool', async () => {
      const { items } = await harness.admin.list(macHost.resource);
      return items.length === 2 && items.every(({ status }) => status?.state === 'pool');
    });
    assert.ok(harness.macs.all.some(({ install }) => install === 1));
    assert.deepEqual(harness.refused, []);
  });
});
