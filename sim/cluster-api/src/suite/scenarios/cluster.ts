import assert from 'node:assert/strict';
import { clusters, machineDeployments, machines } from '../../kinds.ts';
import { annotations, labels } from '../../names.ts';
import { ignoreNotFound } from '../../writes.ts';
import { fakeClusters, fakeControlPlanes } from '../fake-provider.ts';
import { conditionOf, deploymentName, messageOf, type Scenario } from '../harness.ts';

export const wholeCluster: readonly Scenario[] = [
  {
    name: 'a deleted Cluster deletes its workers first, without draining, and keeps their Nodes',
    run: async (harness) => {
      const name = await harness.startOne();
      const { client } = harness.host;
      const { namespace } = harness;
      await harness.addPod('busy', name, { [labels.drain]: 'wait-completed' });
      harness.provider.releases = false;
      await harness.remove(clusters, 'played');
      await harness.waitForCondition(() => harness.machine(name), 'Deleting', 'True WaitingForInfrastructureDeletion');
      const cluster = await harness.waitForCondition(harness.cluster, 'Deleting', 'True WaitingForWorkersDeletion');
      assert.equal(cluster.status?.phase, 'Deleting');
      const [set] = await harness.sets();
      assert.equal(
        messageOf(cluster, 'Deleting'),
        `* MachineDeployments: ${deploymentName}\n* MachineSets: ${set?.metadata.name}\n* Worker Machines: ${name}`,
      );
      for (const resource of [fakeClusters, fakeControlPlanes]) {
        const part = await client.get(resource, { namespace, name: 'played' });
        assert.equal(part.metadata.deletionTimestamp, undefined);
      }
      harness.provider.releases = true;
      await harness.waitFor(
        'the Cluster is gone',
        async () => (await client.list(clusters, { namespace })).items.length === 0,
      );
      assert.deepEqual([await harness.machines(), await harness.hosts(), await harness.sets()], [[], [], []]);
      for (const resource of [fakeClusters, fakeControlPlanes])
        assert.equal(await ignoreNotFound(client.get(resource, { namespace, name: 'played' })), undefined);
      const node = await harness.node(name);
      assert(node);
      assert.ok(!node.spec?.unschedulable);
    },
  },
  {
    name: 'while a Cluster is paused nothing is created, and all objects report Paused',
    run: async (harness) => {
      await harness.addCluster();
      await harness.addKubeconfig();
      await harness.addTemplate('first');
      await harness.waitFor('the Cluster is looked after', async () => {
        const { status } = await harness.cluster();
        return status?.initialization?.controlPlaneInitialized;
      });
      await harness.patch(clusters, 'played', { spec: { paused: true } });
      await harness.waitForCondition(harness.cluster, 'Paused', 'True Paused');
      await harness.addDeployment({ replicas: 1 });
      await harness.waitForCondition(harness.deployment, 'Paused', 'True Paused');
      await harness.ticks(3);
      assert.deepEqual([await harness.sets(), await harness.hosts()], [[], []]);
      await harness.patch(clusters, 'played', { spec: { paused: false } });
      await harness.waitForAvailable(1);
      assert.equal(conditionOf(await harness.deployment(), 'Paused'), 'False NotPaused');
    },
  },
  {
    name: 'a paused Machine is not deleted',
    run: async (harness) => {
      const name = await harness.startOne();
      await harness.patch(machines, name, { metadata: { annotations: { [annotations.paused]: '' } } });
      await harness.waitForCondition(() => harness.machine(name), 'Paused', 'True Paused');
      await harness.remove(machines, name);
      await harness.ticks(3);
      assert.equal((await harness.hosts())[0]?.metadata.deletionTimestamp, undefined);
      await harness.patch(machines, name, { metadata: { annotations: { [annotations.paused]: null } } });
      await harness.waitUntilGone(name);
    },
  },
  {
    name: 'a MachineDeployment with a paused rollout still scales',
    run: async (harness) => {
      await harness.start({ replicas: 1 });
      await harness.patch(machineDeployments, deploymentName, { spec: { paused: true } });
      await harness.patch(machineDeployments, deploymentName, {
        spec: { replicas: 2, template: { spec: { version: 'v1.36.3' } } },
      });
      await harness.waitFor('there are two', async () => (await harness.machines()).length === 2);
      await harness.ticks(3);
      assert.equal((await harness.sets()).length, 1);
      assert.ok((await harness.machines()).every(({ spec }) => spec?.version === undefined));
    },
  },
];
