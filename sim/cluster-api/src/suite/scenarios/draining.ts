import assert from 'node:assert/strict';
import { pods } from '@tartan/kube';
import { machineDeployments, machineDrainRules, machines } from '../../kinds.ts';
import { annotations, coreApiVersion, hooks, labels } from '../../names.ts';
import { ignoreNotFound } from '../../writes.ts';
import { deploymentName, type Harness, type Scenario } from '../harness.ts';

const podIsThere = async ({ host, namespace }: Harness, name: string): Promise<boolean> =>
  (await ignoreNotFound(host.client.get(pods, { namespace, name }))) !== undefined;

const waitForDeletionReason = (harness: Harness, name: string, reason: string) =>
  harness.waitForCondition(() => harness.machine(name), 'Deleting', `True ${reason}`);

const assertHostKept = async (harness: Harness, name: string): Promise<void> => {
  const host = (await harness.hosts()).find(({ metadata }) => metadata.name === name);
  assert(host);
  assert.equal(host.metadata.deletionTimestamp, undefined);
};

export const draining: readonly Scenario[] = [
  {
    name: 'a deleted Machine is cordoned and drained, then its host is deleted, then its Node',
    run: async (harness) => {
      const name = await harness.startOne();
      await harness.addPod('ordinary', name);
      harness.provider.hungNodes.add(name);
      await harness.remove(machines, name);
      const machine = await waitForDeletionReason(harness, name, 'DrainingNode');
      assert.ok(machine.status?.deletion?.nodeDrainStartTime);
      await harness.waitFor('its Node is cordoned', async () => (await harness.node(name))?.spec?.unschedulable);
      await harness.waitFor('the Pod is evicted', async () => {
        const { namespace } = harness;
        return (await harness.host.client.get(pods, { namespace, name: 'ordinary' })).metadata.deletionTimestamp;
      });
      await assertHostKept(harness, name);
      harness.provider.hungNodes.clear();
      await harness.waitUntilGone(name);
      assert.deepEqual(harness.provider.log, ['host released while its Node is there']);
      assert.equal(await harness.node(name), undefined);
      assert.equal(await podIsThere(harness, 'ordinary'), false);
    },
  },
  {
    name: 'a Pod with WaitCompleted is never evicted, and waited for even when it has succeeded',
    run: async (harness) => {
      const name = await harness.startOne();
      await harness.addPod('job', name, { [labels.drain]: 'wait-completed' });
      await harness.remove(machines, name);
      const machine = await waitForDeletionReason(harness, name, 'DrainingNode');
      await harness.waitFor('it is said why', async () =>
        ((await harness.machine(name))?.status?.conditions ?? []).some(({ message }) =>
          /waiting for completion/.test(message),
        ),
      );
      const { client } = harness.host;
      const pod = { namespace: harness.namespace, name: 'job' };
      const status = { phase: 'Succeeded' };
      await client.patch(pods, pod, { type: 'merge', body: { status } }, { subresource: 'status' });
      await harness.ticks(3);
      await assertHostKept(harness, machine.metadata.name);
      assert.equal((await client.get(pods, pod)).metadata.deletionTimestamp, undefined);
      await client.delete(pods, pod, { gracePeriodSeconds: 0 });
      await harness.waitUntilGone(name);
    },
  },
  {
    name: 'a MachineDrainRule can make the drain wait for Pods, until nodeDrainTimeout',
    run: async (harness) => {
      const name = await harness.startOne();
      await harness.host.client.create(machineDrainRules, {
        apiVersion: coreApiVersion,
        kind: 'MachineDrainRule',
        metadata: { namespace: harness.namespace, name: 'jobs' },
        spec: { drain: { behavior: 'WaitCompleted' }, pods: [{ selector: { matchLabels: { job: 'yes' } } }] },
      });
      await harness.addPod('job', name, { job: 'yes' });
      await harness.remove(machines, name);
      await waitForDeletionReason(harness, name, 'DrainingNode');
      await harness.ticks(3);
      await assertHostKept(harness, name);
      // A value on the Machine itself does not last: that of the MachineDeployment overrides it, even during the deletion.
      await harness.patch(machines, name, { spec: { deletion: { nodeDrainTimeoutSeconds: 3600 } } });
      await harness.patch(machineDeployments, deploymentName, {
        spec: { template: { spec: { deletion: { nodeDrainTimeoutSeconds: 1 } } } },
      });
      await harness.waitUntilGone(name);
    },
  },
  {
    name: 'a Pod and a Machine with the skip annotation are not drained',
    run: async (harness) => {
      const name = await harness.startOne();
      await harness.addPod('left', name, { [labels.drain]: 'skip' });
      harness.provider.releases = false;
      await harness.remove(machines, name);
      await waitForDeletionReason(harness, name, 'WaitingForInfrastructureDeletion');
      assert.ok((await harness.node(name))?.spec?.unschedulable);
      harness.provider.releases = true;
      await harness.waitUntilGone(name);
      await harness.waitForAvailable(1);
      const [next] = await harness.machines();
      const second = next?.metadata.name ?? '';
      await harness.addPod('busy', second, { [labels.drain]: 'wait-completed' });
      await harness.patch(machines, second, { metadata: { annotations: { [annotations.excludeNodeDraining]: '' } } });
      await harness.remove(machines, second);
      await harness.waitUntilGone(second);
    },
  },
  {
    name: 'hooks block the deletion before the drain, and before the deletion of the host',
    run: async (harness) => {
      const name = await harness.startOne();
      const [before, after] = [`${hooks.preDrain}/logs`, `${hooks.preTerminate}/certificate`];
      await harness.patch(machines, name, { metadata: { annotations: { [before]: '', [after]: '' } } });
      await harness.remove(machines, name);
      await waitForDeletionReason(harness, name, 'WaitingForPreDrainHook');
      await harness.ticks(2);
      assert.ok(!(await harness.node(name))?.spec?.unschedulable);
      await harness.patch(machines, name, { metadata: { annotations: { [before]: null } } });
      await waitForDeletionReason(harness, name, 'WaitingForPreTerminateHook');
      assert.ok((await harness.node(name))?.spec?.unschedulable);
      await harness.ticks(2);
      await assertHostKept(harness, name);
      await harness.patch(machines, name, { metadata: { annotations: { [after]: null } } });
      await harness.waitUntilGone(name);
    },
  },
  {
    name: 'with a control plane that is not externally managed, nothing is drained and the Node is kept',
    run: async (harness) => {
      harness.provider.externallyManagedControlPlane = false;
      const name = await harness.startOne();
      await harness.addPod('busy', name, { [labels.drain]: 'wait-completed' });
      await harness.remove(machines, name);
      await harness.waitUntilGone(name);
      const node = await harness.node(name);
      assert(node);
      assert.ok(!node.spec?.unschedulable);
      assert.equal(await podIsThere(harness, 'busy'), true);
    },
  },
];
