import assert from 'node:assert/strict';
import { machineDeployments, machines } from '../../kinds.ts';
import { annotations, labels } from '../../names.ts';
import { conditionOf, deploymentName, type Harness, type Scenario } from '../harness.ts';

const scaleTo = async ({ host, namespace }: Harness, replicas: number): Promise<void> => {
  const scale = await host.subresources.getScale(machineDeployments, { namespace, name: deploymentName });
  await host.subresources.updateScale(machineDeployments, { ...scale, spec: { replicas } });
};

const namesOf = async (harness: Harness): Promise<string[]> =>
  (await harness.machines()).map(({ metadata }) => metadata.name);

export const scaling: readonly Scenario[] = [
  {
    name: 'a MachineDeployment is scaled up and down through its scale subresource, and remaining Machines are unchanged',
    run: async (harness) => {
      const old = await harness.startOne();
      await scaleTo(harness, 3);
      await harness.waitForAvailable(3);
      assert.ok((await namesOf(harness)).includes(old));
      const { host, namespace } = harness;
      const scale = await host.subresources.getScale(machineDeployments, { namespace, name: deploymentName });
      assert.equal(scale.status?.replicas, 3);
      assert.match(scale.status?.selector ?? '', new RegExp(`${labels.deploymentName}=${deploymentName}`));
      const before = await namesOf(harness);
      await scaleTo(harness, 2);
      await harness.waitForAvailable(2);
      const after = await namesOf(harness);
      assert.ok(after.every((name) => before.includes(name)));
      assert.equal((await harness.hosts()).length, 2);
      assert.equal((await harness.sets()).length, 1);
    },
  },
  {
    name: 'the Machine with the delete annotation is deleted first',
    run: async (harness) => {
      await harness.start({ replicas: 3 });
      const marked = (await namesOf(harness)).at(-1) ?? '';
      await harness.patch(machines, marked, { metadata: { annotations: { [annotations.deleteMachine]: '' } } });
      await scaleTo(harness, 2);
      await harness.waitForAvailable(2);
      assert.ok(!(await namesOf(harness)).includes(marked));
    },
  },
  {
    name: 'a MachineDeployment with 0 replicas has no Machines, and is Available',
    run: async (harness) => {
      await harness.start({ replicas: 1 });
      await scaleTo(harness, 0);
      await harness.waitForAvailable(0);
      assert.deepEqual(await harness.hosts(), []);
      assert.equal(conditionOf(await harness.deployment(), 'Available'), 'True Available');
      assert.equal(conditionOf(await harness.deployment(), 'MachinesReady'), 'True NoReplicas');
    },
  },
  {
    name: 'a deleted Machine is replaced, but not before it is gone',
    run: async (harness) => {
      const old = await harness.startOne();
      harness.provider.releases = false;
      await harness.remove(machines, old);
      await harness.waitForCondition(() => harness.machine(old), 'Deleting', 'True WaitingForInfrastructureDeletion');
      await harness.ticks(3);
      assert.deepEqual(await namesOf(harness), [old]);
      assert.equal((await harness.machine(old))?.status?.phase, 'Deleting');
      const [host] = await harness.hosts();
      assert.ok(host?.metadata.deletionTimestamp, 'its infrastructure is being deleted');
      harness.provider.releases = true;
      await harness.waitUntilGone(old);
      await harness.waitForAvailable(1);
      assert.notDeepEqual(await namesOf(harness), [old]);
    },
  },
  {
    name: 'a deleted MachineDeployment deletes its Machines, and keeps the template',
    run: async (harness) => {
      await harness.start({ replicas: 2 });
      await harness.remove(machineDeployments, deploymentName);
      await harness.waitFor('all of it is gone', async () => {
        const found = await harness.host.client.list(machineDeployments, { namespace: harness.namespace });
        return found.items.length === 0;
      });
      assert.deepEqual([await harness.sets(), await harness.machines(), await harness.hosts()], [[], [], []]);
      assert.equal(harness.provider.log.length, 2);
    },
  },
];
