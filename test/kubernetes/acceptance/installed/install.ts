import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labels, macFleet } from '@tartan/api';
import { getCondition, isConditionTrue, nodes } from '@tartan/kube';
import { eventually } from '@tartan/kube/testing';
import { coreKinds } from '@tartan/sim-fleet';
import type { Harness } from './harness.ts';
import { isReady, succeeded } from './run.ts';
import { fleets, namespace } from './values.ts';
import { untilAvailable } from './workloads.ts';

/** From a cluster without Macs to running fleets, in the order of docs/install.md. */
export const testInstall = (on: () => Harness): void => {
  test('helm install --wait ends when the managers are Ready and the fleets, still without Macs, are current', async () => {
    succeeded(on(), await on().helm('install'));
    const { output } = await on().kubectl('get', 'pods', '-l', 'app.kubernetes.io/component=provider', '-o', 'wide');
    assert.equal(output.match(/\b1\/1 +Running\b/g)?.length, 2, output);
    assert.equal(new Set(output.match(/linux-\d/g)).size, 2, 'each on a Node of its own');
    for (const fleet of Object.values(fleets)) {
      const { status } = await on().client.get(macFleet.resource, { namespace, name: fleet });
      assert.equal(getCondition(status?.conditions ?? [], 'Ready')?.reason, 'UpToDate');
    }
    // Before there are Macs: they get keys only when they are installed.
    await eventually('the keys of both fleets are registered', () => on().macs.scaleway.keys().length === 2);
  });

  test('with Macs in the pool, helm upgrade --wait ends when all of them are Nodes bound to their Machines', async () => {
    await on().macs.order(5);
    succeeded(on(), await on().helm('upgrade', { macosFleet: { replicas: 3 }, runnersFleet: { replicas: 1 } }));
    const { items } = await on().client.list(nodes, { labelSelector: labels.fleet });
    assert.equal(items.filter(isReady).length, 4, 'it did not end before');
    for (const [fleet, replicas] of [
      [fleets.macos, 3],
      [fleets.runners, 1],
    ] as const) {
      const { status } = await untilAvailable(on(), fleet, replicas);
      assert.ok(isConditionTrue(status?.conditions ?? [], 'Available'));
    }
    for (const fleet of Object.values(fleets))
      for (const mine of await on().machines(fleet)) {
        const { id, zone } = on().serverOf(mine);
        assert.equal(mine.spec.providerID, `scw-applesilicon://${zone}/${id}`);
        const owner = await on().client.get(coreKinds.machines, { namespace, name: mine.metadata.name });
        const bound = await on().client.get(nodes, { name: owner.status?.nodeRef?.name ?? '' });
        assert.equal(owner.spec?.['providerID'], mine.spec.providerID);
        assert.equal(bound.spec?.providerID, mine.spec.providerID);
      }
  });

  test('kubectl scale adds a Mac; helm keeps it, and releases and wipes one when the value changes', async () => {
    const installs = (): number =>
      on()
        .macs.scaleway.servers()
        .reduce((sum, server) => sum + server.installs, 0);
    succeeded(on(), await on().kubectl('scale', 'machinedeployment', fleets.runners, '--replicas=2'));
    await untilAvailable(on(), fleets.runners, 2);
    const before = installs();
    const upgrade = async (replicas: number, ...more: string[]): Promise<void> => {
      const flags = ['--wait', '--timeout', '300s', ...more];
      succeeded(on(), await on().helm('upgrade', { runnersFleet: { replicas } }, flags));
    };
    await upgrade(1);
    await upgrade(1, '--force-conflicts');
    await upgrade(2);
    assert.equal((await on().machines(fleets.runners)).length, 2);
    assert.equal(installs(), before);
    await upgrade(1);
    await untilAvailable(on(), fleets.runners, 1);
    // Cluster API does not count a Machine that is being deleted.
    await eventually('one machine is left', async () => (await on().machines(fleets.runners)).length === 1);
    await eventually('the Mac of the other one is being wiped', () => installs() > before);
    assert.equal(installs(), before + 1);
  });
};
