import type { TestContext } from 'node:test';
import { formatProviderID, kindNames, labels, labelValues, machine } from '@tartan/api';
import { createMetrics, type EventInput, ignoreNotFound, type KubeObject, nodes, pods } from '@tartan/kube';
import { coreMachines } from '../../../core/kinds.ts';
import { createReapCounter } from '../../../manager/provider-metrics.ts';
import { createTestCluster } from '../../../testing/test-cluster.ts';
import { createPodReaper } from '../controller.ts';

const namespace = 'macs';
const core = coreMachines('v1beta2');
const held = ['example.com/drain'];

/** Macs with their Machines, Nodes and Pods on an embedded Kubernetes, and the reaper, on virtual time. */
export const createHarness = async (t: TestContext) => {
  /** The reaper's requests, without watches and lists of caches. */
  const asked: string[] = [];
  const { client, theirs, clock, log, settle, interpose, advance, follow, run } = await createTestCluster(t, {
    namespace,
    kinds: [kindNames.machine.kind],
    onRequest: (method, path) => {
      if (/\/machines\/|fieldSelector|\/pods\//.test(path)) asked.push(`${method} ${path.split('?')[0] ?? ''}`);
    },
  });
  const eventReasons: string[] = [];
  const metrics = createMetrics({ clock });

  return {
    client,
    asked,
    eventReasons,
    interpose,
    start: async () => {
      const controller = createPodReaper({
        client: theirs,
        nodes: await follow(nodes),
        machines: await follow(machine.resource),
        coreMachines: core,
        events: { event: (_object: KubeObject, { reason }: EventInput) => void eventReasons.push(reason) },
        count: createReapCounter(metrics.registry),
        clock,
        log,
      });
      await run(controller);
    },
    pass: (seconds: number) => advance(seconds * 1000, 5000),
    /** A Mac as core and its agent create it, with its Machine. */
    addMac: async (name: string, nodeLabels: Record<string, string> = { [labels.runtime]: labelValues.runtime }) => {
      const providerID = formatProviderID({ zone: 'fr-par-1', serverID: name });
      const { metadata } = await client.create(core, {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'Machine',
        metadata: { name: `${name}-core`, namespace, finalizers: held },
      });
      const ownerReferences = [
        { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', name: metadata.name, uid: metadata.uid },
      ];
      await client.create(
        machine.resource,
        machine.make({ metadata: { name, namespace, ownerReferences }, spec: { providerID } }),
      );
      await client.create(nodes, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, labels: nodeLabels },
        spec: { providerID },
      });
    },
    cordon: async (name: string, unschedulable = true) => {
      await client.patch(nodes, { name }, { type: 'merge', body: { spec: { unschedulable } } });
      await settle();
    },
    deleteMachine: async (name: string) => {
      await client.delete(core, { namespace, name: `${name}-core` });
    },
    addPod: async (name: string, node: string, phase: 'Running' | 'Succeeded' | 'Failed') => {
      await client.create(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        // The agent removes its finalizer when a Pod ends; this one shows that a Pod was deleted.
        metadata: { name, namespace, finalizers: held },
        spec: { containers: [{ name: 'vm', image: 'macos' }], nodeName: node },
      });
      await client.patch(
        pods,
        { namespace, name },
        { type: 'merge', body: { status: { phase } } },
        { subresource: 'status' },
      );
      await settle();
    },
    setPhase: (name: string, phase: string) =>
      client.patch(
        pods,
        { namespace, name },
        { type: 'merge', body: { status: { phase } } },
        { subresource: 'status' },
      ),
    /** Whether it is being deleted; undefined: it is gone. */
    isDeleted: async (name: string) => {
      const pod = await ignoreNotFound(client.get(pods, { namespace, name }));
      return pod && pod.metadata.deletionTimestamp !== undefined;
    },
    reaped: async (phase: string) =>
      Number(
        new RegExp(`^tart_pods_reaped_total\\{phase="${phase}"\\} (\\d+)$`, 'm').exec((await metrics.text()).body)?.[1],
      ),
  };
};
