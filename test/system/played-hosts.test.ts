import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { annotations, finalizers, labels, labelValues, machine, macHost, macTaint } from '@tartan/api';
import { ignoreNotFound, leases, nodes, pods } from '@tartan/kube';
import { eventually } from '@tartan/kube/testing';
import {
  coreKinds,
  deploymentOf,
  fleetNamespace as namespace,
  type Simulation,
  startSimulation,
  untilMachinesReady,
} from '@tartan/sim-fleet';

const count = 5;

describe('played hosts', { timeout: 300_000 }, () => {
  let folder: string;
  let simulation: Simulation;
  const never = new AbortController().signal;
  const listNodes = async () => (await simulation.controlPlane.client.list(nodes)).items;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tartan-played-'));
    const fleets = { macos: count, runners: 0 };
    simulation = await startSimulation({ folder, hosts: 'played', pool: count + 1, fleets, pace: 0.01 });
    await Promise.race([untilMachinesReady(simulation.controlPlane.client, count, never), simulation.failure]);
  });
  after(async () => {
    await simulation?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test('each Mac is a Ready Node with the identity, labels, taint, hash and Lease of a real agent', async () => {
    const { client } = simulation.controlPlane;
    const { items: machines } = await client.list(machine.resource, { namespace });
    const found = await listNodes();
    assert.equal(found.length, count);
    for (const { metadata, spec, status } of found) {
      const owner = machines.find(({ metadata: { name } }) => name === metadata.name);
      assert.equal(spec?.providerID, owner?.spec.providerID);
      assert.equal(metadata.labels?.[labels.runtime], labelValues.runtime);
      assert.equal(metadata.labels?.[labels.fleet], 'macos');
      assert.ok(spec?.taints?.some(({ key }) => key === macTaint.key));
      assert.match(metadata.annotations?.[annotations.hostConfigHash] ?? '', /^[0-9a-f]{16}$/);
      assert.equal(status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
      const name = { namespace: 'kube-node-lease', name: metadata.name };
      const lease = await eventually('the Lease exists', () => ignoreNotFound(client.get(leases, name)));
      assert.equal(lease.spec?.holderIdentity, metadata.name);
    }
    assert.deepEqual(
      simulation.macs.scaleway.servers().filter(({ mac }) => mac !== undefined),
      [],
    );
  });

  test('a Pod runs under the finalizer of the agent, and goes when it is deleted', async () => {
    const { client } = simulation.controlPlane;
    const name = { namespace, name: 'build' };
    await client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: name,
      spec: {
        nodeSelector: { [labels.os]: labelValues.os },
        tolerations: [{ key: macTaint.key, operator: 'Exists' }],
        containers: [{ name: 'build', image: 'ghcr.io/a/b:1' }],
      },
    });
    const running = await eventually('the Pod runs', async () => {
      const pod = await client.get(pods, name);
      return pod.status?.phase === 'Running' ? pod : undefined;
    });
    assert.deepEqual(running.metadata.finalizers, [finalizers.vmCleanup]);
    assert.equal(running.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
    await client.delete(pods, name);
    await eventually('the Pod is gone', async () => (await ignoreNotFound(client.get(pods, name))) === undefined);
  });

  test('agents continue after the provider is replaced by one with a new agent, which reaches every Mac', async () => {
    const versions = async () =>
      new Set((await listNodes()).map(({ metadata }) => metadata.annotations?.[annotations.agentVersion]));
    const before = await versions();
    const uids = (await listNodes()).map(({ metadata: { uid } }) => uid).sort();
    await simulation.upgrade({ version: '0.2.0' });
    await eventually('all Macs have the new agent', async () => {
      const now = await versions();
      return now.size === 1 && now.isDisjointFrom(before);
    });
    assert.deepEqual((await listNodes()).map(({ metadata: { uid } }) => uid).sort(), uids);
  });

  test('a released Mac is wiped, loses its Node, and is back in the pool', async () => {
    const { client } = simulation.controlPlane;
    const deployment = { namespace, name: deploymentOf('macos') };
    const body = { spec: { replicas: count - 1 } };
    await client.patch(coreKinds.machineDeployments, deployment, { type: 'merge', body });
    await eventually('two Macs are free', async () => {
      const { items } = await client.list(macHost.resource);
      return (
        items.filter(({ spec, status }) => status?.state === 'pool' && spec.consumerRef === undefined).length === 2
      );
    });
    assert.equal((await listNodes()).length, count - 1);
  });
});
