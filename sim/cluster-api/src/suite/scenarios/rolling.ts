import assert from 'node:assert/strict';
import { isConditionTrue } from '@tartan/kube';
import { machineDeployments, machines } from '../../kinds.ts';
import { annotations, nodeTaints } from '../../names.ts';
import { refTo } from '../played-kinds.ts';
import type { Scenario } from '../scenario.ts';
import { conditionOf, deploymentName, messageOf, type Stage } from '../stage.ts';

const rollTo = async (stage: Stage, template: string): Promise<void> => {
  await stage.addTemplate(template);
  await stage.patch(machineDeployments, deploymentName, {
    spec: { template: { spec: { infrastructureRef: refTo('PlayedMachineTemplate', template) } } },
  });
};

const sizes = async (stage: Stage): Promise<string[]> =>
  (await stage.hosts()).map(({ spec }) => String(spec?.['size'])).sort();

/** The most Machines at once, and the fewest that were available, until all are of the new template. */
const watchRoll = async (stage: Stage, replicas: number): Promise<{ most: number; fewest: number }> => {
  const seen = { most: 0, fewest: replicas };
  await stage.until('all are of the new template', async () => {
    const all = await stage.machines();
    const available = all.filter(({ status }) => isConditionTrue(status?.conditions, 'Available')).length;
    seen.most = Math.max(seen.most, all.length);
    seen.fewest = Math.min(seen.fewest, available);
    const found = await sizes(stage);
    return found.length === replicas && found.every((size) => size === 'second');
  });
  await stage.untilAvailable(replicas);
  return seen;
};

const rollingUpdate = (maxSurge: number, maxUnavailable: number) =>
  ({ strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } } }) as const;

export const rolling: readonly Scenario[] = [
  {
    name: 'with no surge and one unavailable, Machines are replaced one by one and never are too many',
    play: async (stage) => {
      await stage.running({ replicas: 3, rollout: rollingUpdate(0, 1) });
      await rollTo(stage, 'second');
      assert.deepEqual(await watchRoll(stage, 3), { most: 3, fewest: 2 });
      const deployment = await stage.deployment();
      assert.equal(deployment.metadata.annotations?.[annotations.revision], '2');
      assert.equal(conditionOf(deployment, 'RollingOut'), 'False NotRollingOut');
      await stage.until('the old MachineSet is gone', async () => (await stage.sets()).length === 1);
    },
  },
  {
    name: 'with a surge of one, all stay available while they are replaced',
    play: async (stage) => {
      await stage.running({ replicas: 2, rollout: rollingUpdate(1, 0) });
      await rollTo(stage, 'second');
      assert.deepEqual(await watchRoll(stage, 2), { most: 3, fewest: 2 });
    },
  },
  {
    name: 'a roll says what is not up to date, and marks the Nodes of what will be replaced',
    play: async (stage) => {
      await stage.running({ replicas: 1, rollout: rollingUpdate(1, 0) });
      const [old] = await stage.machines();
      stage.provider.provisions = false;
      await rollTo(stage, 'second');
      await stage.until('the roll has begun', async () => (await stage.machines()).length === 2);
      const outdated = await stage.until('the old Machine is not up to date', async () => {
        const machine = await stage.machine(old?.metadata.name ?? '');
        return conditionOf(machine, 'UpToDate') === 'False NotUpToDate' && machine;
      });
      await stage.until('its Node is marked', async () =>
        (await stage.node(outdated.metadata.name))?.spec?.taints?.some(
          ({ key, effect }) => key === nodeTaints.outdatedRevision.key && effect === nodeTaints.outdatedRevision.effect,
        ),
      );
      await stage.until('the MachineDeployment says so', async () => {
        const deployment = await stage.deployment();
        return conditionOf(deployment, 'RollingOut') === 'True RollingOut';
      });
      assert.equal(conditionOf(await stage.deployment(), 'Available'), 'True Available');
      stage.provider.provisions = true;
      await stage.untilAvailable(1);
    },
  },
  {
    name: 'going back to the old template takes the old MachineSet again',
    play: async (stage) => {
      await stage.running({ replicas: 1, rollout: rollingUpdate(1, 0) });
      const [set] = await stage.sets();
      stage.provider.provisions = false;
      await rollTo(stage, 'second');
      await stage.until('the roll has begun', async () => (await stage.machines()).length === 2);
      await stage.patch(machineDeployments, deploymentName, {
        spec: { template: { spec: { infrastructureRef: refTo('PlayedMachineTemplate', 'first') } } },
      });
      await stage.untilAvailable(1);
      assert.deepEqual(await sizes(stage), ['first']);
      const kept = (await stage.sets()).find(({ metadata }) => metadata.name === set?.metadata.name);
      assert.equal(kept?.metadata.annotations?.[annotations.revision], '3');
    },
  },
  {
    name: 'with OnDelete nothing is replaced before somebody deletes it',
    play: async (stage) => {
      await stage.running({ replicas: 2, rollout: { strategy: { type: 'OnDelete' } } });
      await rollTo(stage, 'second');
      await stage.until('there is a new MachineSet', async () => (await stage.sets()).length === 2);
      await stage.moments(3);
      assert.deepEqual(await sizes(stage), ['first', 'first']);
      const names = (await stage.machines()).map(({ metadata }) => metadata.name).join(', ');
      const why = 'PlayedMachine is not up-to-date';
      const told = `* Machines ${names}:\n  * ${why}`;
      await stage.until('the MachineDeployment says who is not up to date', async () => {
        return messageOf(await stage.deployment(), 'MachinesUpToDate') === told;
      });
      const rolls = `* MachineDeployment ${deploymentName}:\n  * Rolling out 2 not up-to-date replicas\n    * ${why}`;
      await stage.until('the Cluster says that it rolls', async () => {
        return messageOf(await stage.cluster(), 'RollingOut') === rolls;
      });
      const [old] = await stage.machines();
      await stage.remove(machines, old?.metadata.name ?? '');
      await stage.until(
        'one of the new template is there',
        async () =>
          (await sizes(stage)).join() === 'first,second' &&
          (await stage.machines()).every(({ status }) => isConditionTrue(status?.conditions, 'Available')),
      );
    },
  },
  {
    name: 'labels and times to drain follow without new Machines',
    play: async (stage) => {
      await stage.running({ replicas: 1 });
      const [before] = await stage.machines();
      await stage.patch(machineDeployments, deploymentName, {
        spec: {
          template: {
            metadata: { labels: { 'node.cluster.x-k8s.io/pool': 'other', colour: 'blue' } },
            spec: { deletion: { nodeDrainTimeoutSeconds: 60 } },
          },
        },
      });
      const after = await stage.until('the Machine follows', async () => {
        const [machine] = await stage.machines();
        return machine?.metadata.labels?.['colour'] === 'blue' && machine;
      });
      assert.equal(after.metadata.uid, before?.metadata.uid);
      await stage.until('the drain has a limit', async () => {
        const [machine] = await stage.machines();
        return machine?.spec?.deletion?.nodeDrainTimeoutSeconds === 60;
      });
      await stage.until('its Node follows', async () => {
        const node = await stage.node(after.metadata.name);
        return node?.metadata.labels?.['node.cluster.x-k8s.io/pool'] === 'other';
      });
      assert.equal((await stage.hosts())[0]?.metadata.labels?.['colour'], 'blue');
    },
  },
];
