import assert from 'node:assert/strict';
import { machineDeployments, machines } from '../../kinds.ts';
import { annotations, labels } from '../../names.ts';
import type { Scenario } from '../scenario.ts';
import { conditionOf, deploymentName, type Stage } from '../stage.ts';

const scaleTo = async ({ host, namespace }: Stage, replicas: number): Promise<void> => {
  const scale = await host.subresources.getScale(machineDeployments, { namespace, name: deploymentName });
  await host.subresources.updateScale(machineDeployments, { ...scale, spec: { replicas } });
};

const namesOf = async (stage: Stage): Promise<string[]> =>
  (await stage.machines()).map(({ metadata }) => metadata.name);

export const scaling: readonly Scenario[] = [
  {
    name: 'a MachineDeployment is scaled up and down through its scale, and those that stay are the same ones',
    play: async (stage) => {
      await stage.running({ replicas: 1 });
      const [old] = await namesOf(stage);
      await scaleTo(stage, 3);
      await stage.untilAvailable(3);
      assert.ok((await namesOf(stage)).includes(old ?? ''));
      const { host, namespace } = stage;
      const scale = await host.subresources.getScale(machineDeployments, { namespace, name: deploymentName });
      assert.equal(scale.status?.replicas, 3);
      assert.match(scale.status?.selector ?? '', new RegExp(`${labels.deploymentName}=${deploymentName}`));
      const before = await namesOf(stage);
      await scaleTo(stage, 2);
      await stage.untilAvailable(2);
      const after = await namesOf(stage);
      assert.ok(after.every((name) => before.includes(name)));
      assert.equal((await stage.hosts()).length, 2);
      assert.equal((await stage.sets()).length, 1);
    },
  },
  {
    name: 'the Machine that is marked is the one that goes',
    play: async (stage) => {
      await stage.running({ replicas: 3 });
      const marked = (await namesOf(stage)).at(-1) ?? '';
      await stage.patch(machines, marked, { metadata: { annotations: { [annotations.deleteMachine]: '' } } });
      await scaleTo(stage, 2);
      await stage.untilAvailable(2);
      assert.ok(!(await namesOf(stage)).includes(marked));
    },
  },
  {
    name: 'one that asks for none has none, and is available',
    play: async (stage) => {
      await stage.running({ replicas: 1 });
      await scaleTo(stage, 0);
      await stage.untilAvailable(0);
      assert.deepEqual(await stage.hosts(), []);
      assert.equal(conditionOf(await stage.deployment(), 'Available'), 'True Available');
      assert.equal(conditionOf(await stage.deployment(), 'MachinesReady'), 'True NoReplicas');
    },
  },
  {
    name: 'a Machine that somebody deletes is replaced, but not before it is gone',
    play: async (stage) => {
      await stage.running({ replicas: 1 });
      const [old = ''] = await namesOf(stage);
      stage.provider.releases = false;
      await stage.remove(machines, old);
      await stage.until('its infrastructure is being deleted', async () => {
        const [host] = await stage.hosts();
        return host?.metadata.deletionTimestamp !== undefined;
      });
      await stage.moments(3);
      assert.deepEqual(await namesOf(stage), [old]);
      assert.equal((await stage.machine(old))?.status?.phase, 'Deleting');
      assert.equal(conditionOf(await stage.machine(old), 'Deleting'), 'True WaitingForInfrastructureDeletion');
      stage.provider.releases = true;
      await stage.until('it is gone', async () => (await stage.machine(old)) === undefined);
      await stage.untilAvailable(1);
      assert.notDeepEqual(await namesOf(stage), [old]);
    },
  },
  {
    name: 'a MachineDeployment that is deleted takes its Machines with it, and leaves the template',
    play: async (stage) => {
      await stage.running({ replicas: 2 });
      await stage.remove(machineDeployments, deploymentName);
      await stage.until('all of it is gone', async () => {
        const found = await stage.host.client.list(machineDeployments, { namespace: stage.namespace });
        return found.items.length === 0;
      });
      assert.deepEqual([await stage.sets(), await stage.machines(), await stage.hosts()], [[], [], []]);
      assert.equal(stage.provider.story.length, 2);
    },
  },
];
