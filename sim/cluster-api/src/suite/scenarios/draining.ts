import assert from 'node:assert/strict';
import { pods } from '@tartan/kube';
import { machineDeployments, machineDrainRules, machines } from '../../kinds.ts';
import { annotations, coreApiVersion, hooks, labels } from '../../names.ts';
import { ifThere } from '../../writing/found.ts';
import type { Scenario } from '../scenario.ts';
import { conditionOf, deploymentName, type Stage } from '../stage.ts';

const addPod = async (stage: Stage, name: string, node: string, marks: Record<string, string> = {}): Promise<void> => {
  await stage.host.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: stage.namespace, name, labels: marks },
    spec: {
      nodeName: node,
      containers: [{ name: 'vm', image: 'played' }],
      tolerations: [{ operator: 'Exists' }],
      terminationGracePeriodSeconds: 1,
    },
  });
};

const podIsThere = async ({ host, namespace }: Stage, name: string): Promise<boolean> =>
  (await ifThere(host.client.get(pods, { namespace, name }))) !== undefined;

/** A Machine and the Node of the same name. */
const one = async (stage: Stage, ...args: Parameters<Stage['running']>): Promise<string> => {
  await stage.running(...args);
  const [machine] = await stage.machines();
  assert(machine);
  return machine.metadata.name;
};

const untilStage = (stage: Stage, name: string, reason: string) =>
  stage.until(`the Machine is in the stage ${reason}`, async () => {
    const machine = await stage.machine(name);
    return conditionOf(machine, 'Deleting') === `True ${reason}` && machine;
  });

const hostIsWhole = async (stage: Stage, name: string): Promise<void> => {
  const host = (await stage.hosts()).find(({ metadata }) => metadata.name === name);
  assert(host);
  assert.equal(host.metadata.deletionTimestamp, undefined);
};

const untilGone = (stage: Stage, name: string) =>
  stage.until('the Machine is gone', async () => (await stage.machine(name)) === undefined);

export const draining: readonly Scenario[] = [
  {
    name: 'a Machine that is deleted is cordoned and drained, then its host goes, then its Node',
    play: async (stage) => {
      const name = await one(stage, { replicas: 1 });
      await addPod(stage, 'ordinary', name);
      stage.provider.hangs.add(name);
      await stage.remove(machines, name);
      const machine = await untilStage(stage, name, 'DrainingNode');
      assert.ok(machine.status?.deletion?.nodeDrainStartTime);
      await stage.until('its Node is cordoned', async () => (await stage.node(name))?.spec?.unschedulable);
      await stage.until('the Pod is evicted', async () => {
        const { namespace } = stage;
        return (await stage.host.client.get(pods, { namespace, name: 'ordinary' })).metadata.deletionTimestamp;
      });
      await hostIsWhole(stage, name);
      stage.provider.hangs.clear();
      await untilGone(stage, name);
      assert.deepEqual(stage.provider.story, ['host released while its Node is there']);
      assert.equal(await stage.node(name), undefined);
      assert.equal(await podIsThere(stage, 'ordinary'), false);
    },
  },
  {
    name: 'a Pod that asks to be waited for is never evicted, and waited for even when it has succeeded',
    play: async (stage) => {
      const name = await one(stage, { replicas: 1 });
      await addPod(stage, 'job', name, { [labels.drain]: 'wait-completed' });
      await stage.remove(machines, name);
      const machine = await untilStage(stage, name, 'DrainingNode');
      await stage.until('it is said why', async () =>
        ((await stage.machine(name))?.status?.conditions ?? []).some(({ message }) =>
          /waiting for completion/.test(message),
        ),
      );
      const { client } = stage.host;
      const pod = { namespace: stage.namespace, name: 'job' };
      const status = { phase: 'Succeeded' };
      await client.patch(pods, pod, { type: 'merge', body: { status } }, { subresource: 'status' });
      await stage.moments(3);
      await hostIsWhole(stage, machine.metadata.name);
      assert.equal((await client.get(pods, pod)).metadata.deletionTimestamp, undefined);
      await client.delete(pods, pod, { gracePeriodSeconds: 0 });
      await untilGone(stage, name);
    },
  },
  {
    name: 'a rule can ask to wait for Pods, and the time to drain is the way out',
    play: async (stage) => {
      const name = await one(stage, { replicas: 1 });
      await stage.host.client.create(machineDrainRules, {
        apiVersion: coreApiVersion,
        kind: 'MachineDrainRule',
        metadata: { namespace: stage.namespace, name: 'jobs' },
        spec: { drain: { behavior: 'WaitCompleted' }, pods: [{ selector: { matchLabels: { job: 'yes' } } }] },
      });
      await addPod(stage, 'job', name, { job: 'yes' });
      await stage.remove(machines, name);
      await untilStage(stage, name, 'DrainingNode');
      await stage.moments(3);
      await hostIsWhole(stage, name);
      // On the Machine itself it would not last: what its MachineDeployment says holds, also while it goes.
      await stage.patch(machines, name, { spec: { deletion: { nodeDrainTimeoutSeconds: 3600 } } });
      await stage.patch(machineDeployments, deploymentName, {
        spec: { template: { spec: { deletion: { nodeDrainTimeoutSeconds: 1 } } } },
      });
      await untilGone(stage, name);
    },
  },
  {
    name: 'a Pod that says so, and a Machine that says so, are not drained',
    play: async (stage) => {
      const name = await one(stage, { replicas: 1 });
      await addPod(stage, 'left', name, { [labels.drain]: 'skip' });
      stage.provider.releases = false;
      await stage.remove(machines, name);
      await untilStage(stage, name, 'WaitingForInfrastructureDeletion');
      assert.ok((await stage.node(name))?.spec?.unschedulable);
      stage.provider.releases = true;
      await untilGone(stage, name);
      await stage.untilAvailable(1);
      const [next] = await stage.machines();
      const second = next?.metadata.name ?? '';
      await addPod(stage, 'busy', second, { [labels.drain]: 'wait-completed' });
      await stage.patch(machines, second, { metadata: { annotations: { [annotations.excludeNodeDraining]: '' } } });
      await stage.remove(machines, second);
      await untilGone(stage, second);
    },
  },
  {
    name: 'hooks hold the deletion up before the drain, and before the host goes',
    play: async (stage) => {
      const name = await one(stage, { replicas: 1 });
      const [before, after] = [`${hooks.preDrain}/logs`, `${hooks.preTerminate}/certificate`];
      await stage.patch(machines, name, { metadata: { annotations: { [before]: '', [after]: '' } } });
      await stage.remove(machines, name);
      await untilStage(stage, name, 'WaitingForPreDrainHook');
      await stage.moments(2);
      assert.ok(!(await stage.node(name))?.spec?.unschedulable);
      await stage.patch(machines, name, { metadata: { annotations: { [before]: null } } });
      await untilStage(stage, name, 'WaitingForPreTerminateHook');
      assert.ok((await stage.node(name))?.spec?.unschedulable);
      await stage.moments(2);
      await hostIsWhole(stage, name);
      await stage.patch(machines, name, { metadata: { annotations: { [after]: null } } });
      await untilGone(stage, name);
    },
  },
  {
    name: 'under a control plane that is not managed elsewhere, nothing is drained and the Node stays',
    play: async (stage) => {
      stage.provider.managesElsewhere = false;
      const name = await one(stage, { replicas: 1 });
      await addPod(stage, 'busy', name, { [labels.drain]: 'wait-completed' });
      await stage.remove(machines, name);
      await untilGone(stage, name);
      const node = await stage.node(name);
      assert(node);
      assert.ok(!node.spec?.unschedulable);
      assert.equal(await podIsThere(stage, 'busy'), true);
    },
  },
];
