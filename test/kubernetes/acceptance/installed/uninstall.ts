import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labels, machineTemplate, macHost } from '@tartan/api';
import { deployments, nodes, secrets, serviceAccounts } from '@tartan/kube';
import { coreKinds } from '@tartan/sim-fleet';
import type { Harness } from './harness.ts';
import { succeeded } from './run.ts';
import { clusterName, fleets, namespace, release, scalewaySecret } from './values.ts';

/** The end of an installation, while the manager still runs. */
export const testScaleToZero = (on: () => Harness): void => {
  test('deleting the Cluster releases and wipes every Mac, and leaves no Node', async () => {
    const held = on()
      .macs.scaleway.servers()
      .filter(({ name }) => !name.startsWith('tuist-pool-'))
      .map(({ id, installs }) => ({ id, installs }));
    assert.equal(held.length, 4);
    succeeded(on(), await on().kubectl('delete', 'cluster', clusterName, '--timeout=300s'));
    for (const { metadata } of (await on().client.list(macHost.resource)).items)
      await on().waitFor(macHost.resource, metadata.name, 'is in the pool', ({ status }) => status?.state === 'pool');
    for (const { id, installs } of held) {
      const server = on()
        .macs.scaleway.servers()
        .find((each) => each.id === id);
      assert.match(server?.name ?? '', /^tuist-pool-/);
      assert.equal(server?.installs, installs + 1);
    }
    assert.deepEqual((await on().client.list(nodes, { labelSelector: labels.fleet })).items, []);
    assert.deepEqual((await on().client.list(coreKinds.machines)).items, []);
  });
};

export const testUninstall = (on: () => Harness): void => {
  test('helm uninstall --wait leaves only the SSH keys that Macs accept', async () => {
    succeeded(on(), await on().runHelm('uninstall', release, '--wait', '--timeout', '300s'));
    const { client } = on();
    const names = async (list: Promise<{ items: { metadata: { name: string } }[] }>): Promise<readonly string[]> =>
      (await list).items.map(({ metadata }) => metadata.name);
    assert.deepEqual(await names(client.list(deployments, { namespace })), []);
    assert.deepEqual(await names(client.list(serviceAccounts, { namespace })), ['default']);
    // Deleted with their owner, the Cluster.
    assert.deepEqual(await names(client.list(machineTemplate.resource, { namespace })), []);
    // Next to what existed before.
    assert.deepEqual(await names(client.list(secrets, { namespace })), [
      ...Object.values(fleets).map((fleet) => `${fleet}-ssh`),
      scalewaySecret,
    ]);
  });
};
