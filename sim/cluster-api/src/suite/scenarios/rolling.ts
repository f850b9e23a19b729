import assert from 'node:assert/strict';
import { isConditionTrue } from '@tartan/kube';
import { machineDeployments, machines } from '../../kinds.ts';
import { annotations, nodeTaints } from '../../names.ts';
import { refTo } from '../fake-provider.ts';
import { conditionOf, deploymentName, type Harness, messageOf, type Scenario } from '../harness.ts';

const rollTo = async (harness: Harness, template: string): Promise<void> => {
  await harness.addTemplate(template);
  await harness.patch(machineDeployments, deploymentName, {
    spec: { template: { spec: { infrastructureRef: refTo('FakeMachineTemplate', template) } } },
  });
};

const sizes = async (harness: Harness): Promise<string[]> =>
  (await harness.hosts()).map(({ spec }) => String(spec?.['size'])).sort();

/** The most Machines at once, and the fewest available ones, until all have the new template. */
const watchRoll = async (harness: Harness, replicas: number): Promise<{ most: number; fewest: number }> => {
  const seen = { most: 0, fewest: replicas };
  await harness.waitFor('all are of the new template', async () => {
    const all = await harness.machines();
    const available = all.filter(({ status }) => isConditionTrue(status?.conditions, 'Available')).length;
    seen.most = Math.max(seen.most, all.length);
    seen.fewest = Math.min(seen.fewest, available);
    const found = await sizes(harness);
    return found.length === replicas && found.every((size) => size === 'second');
  });
  await harness.waitForAvailable(replicas);
  return seen;
};

const rollingUpdate = (maxSurge: number, maxUnavailable: number) =>
  ({ strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } } }) as const;

export const rolling: readonly Scenario[] = [
  {
    name: 'with maxSurge 0 and maxUnavailable 1, Machines are replaced one by one, without a surplus',
    run: async (harness) => {
      await harness.start({ replicas: 3, rollout: rollingUpdate(0, 1) });
      await rollTo(harness, 'second');
      assert.deepEqual(await watchRoll(harness, 3), { most: 3, fewest: 2 });
      const deployment = await harness.deployment();
      assert.equal(deployment.metadata.annotations?.[annotations.revision], '2');
      assert.equal(conditionOf(deployment, 'RollingOut'), 'False NotRollingOut');
      await harness.waitFor('the old MachineSet is gone', async () => (await harness.sets()).length === 1);
    },
  },
  {
    name: 'with maxSurge 1, all Machines stay available during the rollout',
    run: async (harness) => {
      await harness.start({ replicas: 2, rollout: rollingUpdate(1, 0) });
      await rollTo(harness, 'second');
      assert.deepEqual(await watchRoll(harness, 2), { most: 3, fewest: 2 });
    },
  },
  {
    name: 'a rollout reports outdated Machines, and marks the Nodes to be replaced',
    run: async (harness) => {
      const name = await harness.startOne();
      harness.provider.provisions = false;
      await rollTo(harness, 'second');
      await harness.waitFor('the roll has begun', async () => (await harness.machines()).length === 2);
      await harness.waitForCondition(() => harness.machine(name), 'UpToDate', 'False NotUpToDate');
      await harness.waitFor('its Node is marked', async () =>
        (await harness.node(name))?.spec?.taints?.some(
          ({ key, effect }) => key === nodeTaints.outdatedRevision.key && effect === nodeTaints.outdatedRevision.effect,
        ),
      );
      await harness.waitForCondition(harness.deployment, 'RollingOut', 'True RollingOut');
      assert.equal(conditionOf(await harness.deployment(), 'Available'), 'True Available');
      harness.provider.provisions = true;
      await harness.waitForAvailable(1);
    },
  },
  {
    name: 'a rollback to the old template reuses the old MachineSet',
    run: async (harness) => {
      await harness.start({ replicas: 1, rollout: rollingUpdate(1, 0) });
      const [set] = await harness.sets();
      harness.provider.provisions = false;
      await rollTo(harness, 'second');
      await harness.waitFor('the roll has begun', async () => (await harness.machines()).length === 2);
      await harness.patch(machineDeployments, deploymentName, {
        spec: { template: { spec: { infrastructureRef: refTo('FakeMachineTemplate', 'first') } } },
      });
      await harness.waitForAvailable(1);
      assert.deepEqual(await sizes(harness), ['first']);
      const kept = (await harness.sets()).find(({ metadata }) => metadata.name === set?.metadata.name);
      assert.equal(kept?.metadata.annotations?.[annotations.revision], '3');
    },
  },
  {
    name: 'with OnDelete nothing is replaced before somebody deletes it',
    run: async (harness) => {
      await harness.start({ replicas: 2, rollout: { strategy: { type: 'OnDelete' } } });
      await rollTo(harness, 'second');
      await harness.waitFor('there is a new MachineSet', async () => (await harness.sets()).length === 2);
      await harness.ticks(3);
      assert.deepEqual(await sizes(harness), ['first', 'first']);
      const names = (await harness.machines()).map(({ metadata }) => metadata.name).join(', ');
      const why = 'FakeMachine is not up-to-date';
      const expected = `* Machines ${names}:\n  * ${why}`;
      await harness.waitFor('the MachineDeployment says who is not up to date', async () => {
        return messageOf(await harness.deployment(), 'MachinesUpToDate') === expected;
      });
      const rolls = `* MachineDeployment ${deploymentName}:\n  * Rolling out 2 not up-to-date replicas\n    * ${why}`;
      await harness.waitFor('the Cluster says that it rolls', async () => {
        return messageOf(await harness.cluster(), 'RollingOut') === rolls;
      });
      const [old] = await harness.machines();
      await harness.remove(machines, old?.metadata.name ?? '');
      await harness.waitFor(
        'one of the new template is there',
        async () =>
          (await sizes(harness)).join() === 'first,second' &&
          (await harness.machines()).every(({ status }) => isConditionTrue(status?.conditions, 'Available')),
      );
    },
  },
  {
    name: 'labels and drain timeouts change without new Machines',
    run: async (harness) => {
      await harness.start({ replicas: 1 });
      const [before] = await harness.machines();
      await harness.patch(machineDeployments, deploymentName, {
        spec: {
          template: {
            metadata: { labels: { 'node.cluster.x-k8s.io/pool': 'other', colour: 'blue' } },
            spec: { deletion: { nodeDrainTimeoutSeconds: 60 } },
          },
        },
      });
      const after = await harness.waitFor('the Machine follows', async () => {
        const [machine] = await harness.machines();
        return machine?.metadata.labels?.['colour'] === 'blue' && machine;
      });
      assert.equal(after.metadata.uid, before?.metadata.uid);
      await harness.waitFor('the drain has a limit', async () => {
        const [machine] = await harness.machines();
        return machine?.spec?.deletion?.nodeDrainTimeoutSeconds === 60;
      });
      await harness.waitFor('its Node follows', async () => {
        const node = await harness.node(after.metadata.name);
        return node?.metadata.labels?.['node.cluster.x-k8s.io/pool'] === 'other';
      });
      assert.equal((await harness.hosts())[0]?.metadata.labels?.['colour'], 'blue');
    },
  },
];
