import assert from 'node:assert/strict';
import { nodes, secrets } from '@tartan/kube';
import { machines } from '../../kinds.ts';
import { annotations, finalizers, labels, nodeAnnotations, nodeTaints } from '../../names.ts';
import { fakeClusters, fakeMachines, fakeTemplates, refTo } from '../fake-provider.ts';
import { conditionOf, deploymentName, type Harness, messageOf, type Scenario } from '../harness.ts';

const owners = ({
  metadata,
}: {
  metadata: { ownerReferences?: { kind: string; name: string; controller?: boolean }[] };
}) => (metadata.ownerReferences ?? []).map(({ kind, name, controller = false }) => ({ kind, name, controller }));

const first = async (harness: Harness) => {
  const [machine] = await harness.machines();
  assert(machine);
  return machine;
};

export const bringUp: readonly Scenario[] = [
  {
    name: 'a MachineDeployment creates a MachineSet, which creates Machines, each with infrastructure cloned from the template',
    run: async (harness) => {
      await harness.start({ replicas: 2 });
      const [set] = await harness.sets();
      assert(set);
      assert.deepEqual(owners(set), [{ kind: 'MachineDeployment', name: deploymentName, controller: true }]);
      assert.match(set.metadata.name, new RegExp(`^${deploymentName}-[a-z0-9]{5}$`));
      assert.match(set.metadata.labels?.[labels.templateHash] ?? '', /^\d+-[a-z0-9]{5}$/);
      assert.equal(set.metadata.annotations?.[annotations.revision], '1');
      assert.equal(set.metadata.annotations?.[annotations.desiredReplicas], '2');
      for (const machine of await harness.machines()) {
        const { name } = machine.metadata;
        assert.match(name, new RegExp(`^${set.metadata.name}-[a-z0-9]{5}$`));
        assert.deepEqual(owners(machine), [{ kind: 'MachineSet', name: set.metadata.name, controller: true }]);
        assert.deepEqual(machine.metadata.finalizers, [finalizers.machine]);
        assert.equal(machine.metadata.labels?.[labels.setName], set.metadata.name);
        assert.equal(machine.metadata.labels?.[labels.deploymentName], deploymentName);
        assert.equal(machine.metadata.labels?.[labels.clusterName], 'played');
        const host = (await harness.hosts()).find(({ metadata }) => metadata.name === name);
        assert(host);
        assert.deepEqual(owners(host), [{ kind: 'Machine', name, controller: true }]);
        assert.equal(host.spec?.['size'], 'first');
        assert.equal(host.metadata.annotations?.[annotations.clonedFromName], 'first');
        assert.equal(
          host.metadata.annotations?.[annotations.clonedFromGroupKind],
          'FakeMachineTemplate.infrastructure.cluster.x-k8s.io',
        );
        assert.equal(host.metadata.labels?.['from'], 'template');
        assert.equal(host.metadata.labels?.[labels.deploymentName], deploymentName);
      }
    },
  },
  {
    name: 'a Machine is bound to the Node with its provider ID, and is Running',
    run: async (harness) => {
      await harness.start({ replicas: 1 });
      const { metadata, spec, status } = await first(harness);
      assert.equal(spec?.providerID, `played://${harness.namespace}/${metadata.name}`);
      assert.deepEqual(spec?.deletion, { nodeDeletionTimeoutSeconds: 10 });
      assert.ok(status?.conditions?.every(({ observedGeneration }) => observedGeneration !== undefined));
      assert.equal(status?.nodeRef?.name, metadata.name);
      assert.equal(status?.phase, 'Running');
      assert.equal(status?.initialization?.infrastructureProvisioned, true);
      assert.deepEqual(status?.addresses, [{ type: 'InternalIP', address: '192.0.2.1' }]);
      const said = Object.fromEntries(
        [
          'Ready',
          'Available',
          'InfrastructureReady',
          'BootstrapConfigReady',
          'NodeHealthy',
          'NodeReady',
          'UpToDate',
        ].map((type) => [type, conditionOf({ status }, type)]),
      );
      assert.deepEqual(said, {
        Ready: 'True Ready',
        Available: 'True Available',
        InfrastructureReady: 'True Ready',
        BootstrapConfigReady: 'True DataSecretProvided',
        NodeHealthy: 'True NodeHealthy',
        NodeReady: 'True NodeReady',
        UpToDate: 'True UpToDate',
      });
      assert.equal(conditionOf({ status }, 'Deleting'), 'False NotDeleting');
      assert.equal(conditionOf({ status }, 'Paused'), 'False NotPaused');
      const node = await harness.node(metadata.name);
      const notes = node?.metadata.annotations ?? {};
      assert.equal(notes[nodeAnnotations.machine], metadata.name);
      assert.equal(notes[nodeAnnotations.clusterNamespace], harness.namespace);
      assert.equal(notes[nodeAnnotations.ownerKind], 'MachineSet');
      assert.equal(node?.metadata.labels?.['node.cluster.x-k8s.io/pool'], 'played');
      assert.equal(notes[nodeAnnotations.labelsFromMachine], 'node.cluster.x-k8s.io/pool');
      assert.ok(!(node?.spec?.taints ?? []).some(({ key }) => key === nodeTaints.uninitialized.key));
    },
  },
  {
    name: 'the MachineDeployment and the Cluster are Available',
    run: async (harness) => {
      await harness.start({ replicas: 1 });
      const deployment = await harness.deployment();
      assert.equal(deployment.status?.phase, 'Running');
      assert.equal(conditionOf(deployment, 'Available'), 'True Available');
      assert.equal(conditionOf(deployment, 'RollingOut'), 'False NotRollingOut');
      assert.equal(conditionOf(deployment, 'MachinesReady'), 'True Ready');
      assert.deepEqual(owners(deployment), [{ kind: 'Cluster', name: 'played', controller: false }]);
      assert.deepEqual(deployment.metadata.finalizers, [finalizers.machineDeployment]);
      const cluster = await harness.waitForCondition(harness.cluster, 'Available', 'True Available');
      assert.equal(cluster.status?.phase, 'Provisioned');
      assert.deepEqual(cluster.metadata.finalizers, [finalizers.cluster]);
      assert.deepEqual(cluster.status?.initialization, {
        infrastructureProvisioned: true,
        controlPlaneInitialized: true,
      });
      assert.equal(conditionOf(cluster, 'ControlPlaneInitialized'), 'True Initialized');
      assert.equal(conditionOf(cluster, 'RemoteConnectionProbe'), 'True ProbeSucceeded');
      // An externally managed control plane has no Machines.
      assert.equal(conditionOf(cluster, 'ControlPlaneMachinesReady'), 'True NoReplicas');
      assert.equal(conditionOf(cluster, 'ControlPlaneMachinesUpToDate'), 'True NoReplicas');
      for (const { status } of [deployment, cluster])
        assert.ok(status?.conditions?.every(({ observedGeneration }) => observedGeneration !== undefined));
      for (const [resource, name] of [
        [fakeClusters, 'played'],
        [fakeTemplates, 'first'],
      ] as const) {
        const part = await harness.host.client.get(resource, { namespace: harness.namespace, name });
        assert.deepEqual(owners(part), [{ kind: 'Cluster', name: 'played', controller: false }]);
      }
    },
  },
  {
    name: 'without a kubeconfig that has its label, Machines are not bound',
    run: async (harness) => {
      await harness.addCluster();
      await harness.addKubeconfig(false);
      await harness.addTemplate('first');
      await harness.addDeployment({ replicas: 1 });
      const waiting = await harness.waitFor('the Machine is provisioned', async () => {
        const [machine] = await harness.machines();
        return machine?.status?.phase === 'Provisioned' && machine;
      });
      await harness.ticks(3);
      assert.equal(conditionOf(waiting, 'NodeHealthy').split(' ')[0], 'Unknown');
      assert.equal((await first(harness)).status?.nodeRef, undefined);
      await harness.patch(secrets, 'played-kubeconfig', { metadata: { labels: { [labels.clusterName]: 'played' } } });
      await harness.waitForAvailable(1);
    },
  },
  {
    name: 'a host that is provisioned without a provider ID stays pending, and is bound when it has one',
    run: async (harness) => {
      harness.provider.reportsProviderID = false;
      await harness.addCluster();
      await harness.addKubeconfig();
      await harness.addTemplate('first');
      await harness.addDeployment({ replicas: 1 });
      await harness.waitFor('the Node is there, and core waits for its ID', async () => {
        const [machine] = await harness.machines();
        const message = 'Waiting for FakeMachine to report spec.providerID';
        return messageOf(machine, 'NodeHealthy') === message && (await harness.node(machine?.metadata.name ?? ''));
      });
      await harness.ticks(3);
      const early = await first(harness);
      assert.equal(early.status?.phase, 'Pending');
      assert.equal(early.spec?.providerID, undefined);
      assert.equal(early.status?.initialization?.infrastructureProvisioned, undefined);
      harness.provider.reportsProviderID = true;
      await harness.waitForAvailable(1);
    },
  },
  {
    name: 'a deleted Node makes its Machine unhealthy, and a recreated one makes it healthy',
    run: async (harness) => {
      const name = await harness.startOne();
      harness.provider.joins = false;
      await harness.host.client.delete(nodes, { name });
      const unwell = await harness.waitForCondition(() => harness.machine(name), 'Ready', 'False NotReady');
      assert.equal(conditionOf(unwell, 'NodeHealthy'), 'False NodeDeleted');
      assert.equal(unwell.status?.nodeRef?.name, name);
      const worse = await harness.waitForCondition(harness.deployment, 'Available', 'False NotAvailable');
      assert.equal(
        messageOf(worse, 'Available'),
        '0 available replicas, at least 1 required (spec.strategy.rollout.maxUnavailable is 0, spec.replicas is 1)',
      );
      const why = `* NodeHealthy: Node ${name} has been deleted while the Machine still exists`;
      await harness.waitFor('it says which Machine that is', async () => {
        return messageOf(await harness.deployment(), 'MachinesReady') === `* Machine ${name}:\n  ${why}`;
      });
      harness.provider.joins = true;
      await harness.waitForAvailable(1);
    },
  },
  {
    name: 'a Node without one of its conditions keeps its Machine from being ready',
    run: async (harness) => {
      const name = await harness.startOne();
      harness.provider.joins = false;
      const node = await harness.node(name);
      const conditions = (node?.status?.conditions ?? []).filter(({ type }) => type !== 'PIDPressure');
      const { client } = harness.host;
      await client.patch(
        nodes,
        { name },
        { type: 'merge', body: { status: { conditions } } },
        { subresource: 'status' },
      );
      await harness.waitForCondition(() => harness.machine(name), 'NodeHealthy', 'Unknown NodeHealthyUnknown');
      assert.equal(conditionOf(await harness.machine(name), 'Available'), 'False NotReady');
    },
  },
  {
    name: 'a Machine without a MachineSet is owned by its Cluster',
    run: async (harness) => {
      await harness.start({ replicas: 0 });
      const { client } = harness.host;
      const metadata = { namespace: harness.namespace, name: 'alone', labels: { [labels.clusterName]: 'played' } };
      await client.create(fakeMachines, {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1',
        kind: 'FakeMachine',
        metadata,
      });
      await client.create(machines, {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'Machine',
        metadata,
        spec: {
          clusterName: 'played',
          bootstrap: { dataSecretName: 'nothing' },
          infrastructureRef: refTo('FakeMachine', 'alone'),
        },
      });
      const machine = await harness.waitFor('it runs', async () => {
        const seen = await harness.machine('alone');
        return seen?.status?.phase === 'Running' && seen;
      });
      assert.deepEqual(owners(machine), [{ kind: 'Cluster', name: 'played', controller: false }]);
      assert.equal(conditionOf(machine, 'UpToDate'), 'none');
    },
  },
];
