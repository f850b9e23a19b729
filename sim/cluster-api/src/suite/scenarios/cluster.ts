import assert from 'node:assert/strict';
import { pods } from '@tartan/kube';
import { clusters, machineDeployments, machines } from '../../kinds.ts';
import { annotations, labels } from '../../names.ts';
import { ifThere } from '../../writing/found.ts';
import { playedClusters, playedControlPlanes } from '../played-kinds.ts';
import type { Scenario } from '../scenario.ts';
import { conditionOf, deploymentName, messageOf } from '../stage.ts';

export const wholeCluster: readonly Scenario[] = [
  {
    name: 'a Cluster that is deleted takes its workers down first, without draining, and leaves their Nodes',
    play: async (stage) => {
      await stage.running({ replicas: 1 });
      const [machine] = await stage.machines();
      const name = machine?.metadata.name ?? '';
      const { client } = stage.host;
      const { namespace } = stage;
      await client.create(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace, name: 'busy', labels: { [labels.drain]: 'wait-completed' } },
        spec: { nodeName: name, containers: [{ name: 'vm', image: 'played' }], tolerations: [{ operator: 'Exists' }] },
      });
      stage.provider.releases = false;
      await stage.remove(clusters, 'played');
      await stage.until('the Machine goes', async () => {
        const seen = await stage.machine(name);
        return conditionOf(seen, 'Deleting') === 'True WaitingForInfrastructureDeletion';
      });
      const cluster = await stage.until('the Cluster waits for workers', async () => {
        const seen = await stage.cluster();
        return conditionOf(seen, 'Deleting') === 'True WaitingForWorkersDeletion' && seen;
      });
      assert.equal(cluster.status?.phase, 'Deleting');
      const [set] = await stage.sets();
      assert.equal(
        messageOf(cluster, 'Deleting'),
        `* MachineDeployments: ${deploymentName}\n* MachineSets: ${set?.metadata.name}\n* Worker Machines: ${name}`,
      );
      for (const resource of [playedClusters, playedControlPlanes]) {
        const part = await client.get(resource, { namespace, name: 'played' });
        assert.equal(part.metadata.deletionTimestamp, undefined);
      }
      stage.provider.releases = true;
      await stage.until(
        'the Cluster is gone',
        async () => (await client.list(clusters, { namespace })).items.length === 0,
      );
      assert.deepEqual([await stage.machines(), await stage.hosts(), await stage.sets()], [[], [], []]);
      for (const resource of [playedClusters, playedControlPlanes])
        assert.equal(await ifThere(client.get(resource, { namespace, name: 'played' })), undefined);
      const node = await stage.node(name);
      assert(node);
      assert.ok(!node.spec?.unschedulable);
    },
  },
  {
    name: 'while a Cluster is paused nothing is made, and all say so',
    play: async (stage) => {
      await stage.addCluster();
      await stage.addKubeconfig();
      await stage.addTemplate('first');
      await stage.until('the Cluster is looked after', async () => {
        const { status } = await stage.cluster();
        return status?.initialization?.controlPlaneInitialized;
      });
      await stage.patch(clusters, 'played', { spec: { paused: true } });
      await stage.addDeployment({ replicas: 1 });
      await stage.until('the MachineDeployment says so', async () => {
        return conditionOf(await stage.deployment(), 'Paused') === 'True Paused';
      });
      await stage.until(
        'the Cluster says so',
        async () => conditionOf(await stage.cluster(), 'Paused') === 'True Paused',
      );
      await stage.moments(3);
      assert.deepEqual([await stage.sets(), await stage.hosts()], [[], []]);
      await stage.patch(clusters, 'played', { spec: { paused: false } });
      await stage.untilAvailable(1);
      assert.equal(conditionOf(await stage.deployment(), 'Paused'), 'False NotPaused');
    },
  },
  {
    name: 'a Machine that is paused is not even deleted',
    play: async (stage) => {
      await stage.running({ replicas: 1 });
      const [machine] = await stage.machines();
      const name = machine?.metadata.name ?? '';
      await stage.patch(machines, name, { metadata: { annotations: { [annotations.paused]: '' } } });
      await stage.until('it says so', async () => conditionOf(await stage.machine(name), 'Paused') === 'True Paused');
      await stage.remove(machines, name);
      await stage.moments(3);
      assert.equal((await stage.hosts())[0]?.metadata.deletionTimestamp, undefined);
      await stage.patch(machines, name, { metadata: { annotations: { [annotations.paused]: null } } });
      await stage.until('it is gone', async () => (await stage.machine(name)) === undefined);
    },
  },
  {
    name: 'a MachineDeployment whose roll is paused still scales',
    play: async (stage) => {
      await stage.running({ replicas: 1 });
      await stage.patch(machineDeployments, deploymentName, { spec: { paused: true } });
      await stage.patch(machineDeployments, deploymentName, {
        spec: { replicas: 2, template: { spec: { version: 'v1.36.3' } } },
      });
      await stage.until('there are two', async () => (await stage.machines()).length === 2);
      await stage.moments(3);
      assert.equal((await stage.sets()).length, 1);
      assert.ok((await stage.machines()).every(({ spec }) => spec?.version === undefined));
    },
  },
];
