import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { formatProviderID, kindNames, labels, labelValues, machine } from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import {
  createClient,
  createInformer,
  createLogger,
  createMetrics,
  customResourceDefinitions,
  type EventInput,
  ignoreNotFound,
  type Informer,
  inProcessTransport,
  type KubeObject,
  namespaces,
  nodes,
  pods,
  type Resource,
  serviceAccounts,
  type Transport,
} from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { coreMachines } from '../../../core/machine.ts';
import { createReapCounter } from '../../../manager/provider-metrics.ts';
import { createPodReaper } from '../controller.ts';

type Send = Transport['send'];

const namespace = 'macs';
const core = coreMachines('v1beta2');
const held = ['example.com/drain'];

/** Macs with their Machines, Nodes and Pods on an embedded Kubernetes, and the reaper, on virtual time. */
export const createHarness = async (t: TestContext) => {
  const clock = manualClock();
  const log = createLogger({ write: () => {}, clock, level: 'error' });
  const kubernetes = await createKubernetes({ clock, controllers: false });
  t.after(() => kubernetes.stop());
  const user = { commonName: 'admin', organizations: ['system:masters'] };
  const transport = inProcessTransport(kubernetes.handle, { user });
  let between: (send: Send) => Send = (send) => send;
  /** What the reaper asked of the server, watches and lists of caches left out. */
  const asked: string[] = [];
  const client = createClient(transport, { clock });
  const theirs = createClient(
    {
      ...transport,
      send: (request) => {
        const path = request.path.split('?')[0] ?? '';
        if (/\/machines\/|fieldSelector|\/pods\//.test(request.path)) asked.push(`${request.method} ${path}`);
        return between(transport.send)(request);
      },
    },
    { clock },
  );
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } } as const;
  await client.create(serviceAccounts, account);
  for (const definition of [
    ...definitions.filter(({ spec }) => spec.names.kind === kindNames.machine.kind),
    ...coreDefinitions(),
  ])
    await client.create(customResourceDefinitions, definition);

  const stopping = new AbortController();
  const running: Promise<void>[] = [];
  t.after(async () => {
    stopping.abort();
    await Promise.all(running);
  });
  const follow = async <T extends KubeObject>(resource: Resource<T>): Promise<Informer<T>> => {
    const cache = createInformer({ client: theirs, resource, clock, random: () => 0.5, log });
    running.push(cache.run(stopping.signal));
    await cache.synced;
    return cache;
  };
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 80; turn += 1) await setImmediate();
  };
  const told: string[] = [];
  const metrics = createMetrics({ clock });

  return {
    client,
    asked,
    told,
    interpose: (wrap: (send: Send) => Send) => {
      between = wrap;
    },
    start: async () => {
      const controller = createPodReaper({
        client: theirs,
        nodes: await follow(nodes),
        machines: await follow(machine.resource),
        coreMachines: core,
        events: { event: (_object: KubeObject, { reason }: EventInput) => void told.push(reason) },
        count: createReapCounter(metrics.registry),
        clock,
        log,
      });
      running.push(controller.run(stopping.signal));
      await settle();
    },
    pass: async (seconds: number) => {
      for (let passed = 0; passed < seconds; passed += 5) {
        await settle();
        clock.advance(5000);
      }
      await settle();
    },
    /** A Mac as core and its agent make it, with its Machine. */
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
        // That of the agent goes when a Pod has ended; another one shows here that a Pod was deleted.
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
    /** Whether somebody has deleted it; undefined: it is gone. */
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
