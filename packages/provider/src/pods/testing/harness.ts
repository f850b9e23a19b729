import type { TestContext } from 'node:test';
import { finalizers } from '@tartan/api';
import {
  type Client,
  createEventRecorder,
  createInformer,
  createLogger,
  createMetrics,
  events,
  ignoreNotFound,
  nodes,
  pods,
} from '@tartan/kube';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import { isHeldByAgent, trimPod } from '../../manager/caches.ts';
import { createReleaseCounter } from '../../manager/provider-metrics.ts';
import { createTestCluster } from '../../testing/test-cluster.ts';
import { createPodRelease } from '../controller.ts';
import { nodeIndexes, podIndexes } from '../../indexes.ts';

const namespace = 'runners';
const log = createLogger({ write: () => {}, clock: manualClock(), level: 'error' });

/** Nodes, Pods and the controller on an embedded Kubernetes, on virtual time. */
export const createHarness = async (t: TestContext, { builtInControllers: controllers = false } = {}) => {
  const harness = await createTestCluster(t, { namespace, controllers });
  const { client, theirs, clock, settle, interpose, advance } = harness;
  const metrics = createMetrics({ clock });
  const count = createReleaseCounter(metrics.registry);
  return {
    client,
    clock,
    settle,
    interpose,
    start: (options?: { nodesWith?: string }) => startProcess(theirs, clock, count, options),
    pass: (minutes: number) => advance(minutes * 60_000, 30_000),
    addNode: (name: string) => client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name } }),
    removeNode: (name: string) => client.delete(nodes, { name }),
    addPod: (name: string, node: string | undefined, held: readonly string[] = [finalizers.vmCleanup]) =>
      client.create(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace, finalizers: [...held] },
        spec: { containers: [{ name: 'vm', image: 'macos' }], ...(node && { nodeName: node }) },
      }),
    deletePod: (name: string, gracePeriodSeconds = 0) =>
      client.delete(pods, { namespace, name }, { gracePeriodSeconds }),
    /** Undefined once the Pod is gone. */
    finalizersOf: async (name: string) => {
      const pod = await ignoreNotFound(client.get(pods, { namespace, name }));
      return pod && (pod.metadata.finalizers ?? []);
    },
    eventsOf: async (name: string) =>
      (await client.list(events, { namespace })).items.filter(
        (event) => event.involvedObject.name === name && event.source?.component === 'pod-release',
      ),
    released: async (cause: string) => {
      const line = new RegExp(`^tart_pods_released_total\\{cause="${cause}"\\} (\\d+)$`, 'm');
      return Number(line.exec((await metrics.text()).body)?.[1]);
    },
  };
};

/** A process whose cache of Nodes can be limited, and whose controller can be stopped and run again. */
const startProcess = async (
  client: Client,
  clock: ManualClock,
  count: ReturnType<typeof createReleaseCounter>,
  { nodesWith }: { nodesWith?: string } = {},
) => {
  const common = { client, clock, random: () => 0.5, log };
  const podCache = createInformer({
    ...common,
    resource: pods,
    indexes: podIndexes,
    filter: isHeldByAgent,
    transform: trimPod,
  });
  const nodeCache = createInformer({
    ...common,
    resource: nodes,
    indexes: nodeIndexes,
    ...(nodesWith && { labelSelector: nodesWith }),
  });
  const recorder = createEventRecorder({ client, clock, log, component: 'pod-release', instance: 'test' });
  const caches = { pods: podCache, nodes: nodeCache };
  const controller = createPodRelease({ ...caches, client, clock, log, events: recorder, count });
  const stopping = new AbortController();
  const running = [podCache.run(stopping.signal), nodeCache.run(stopping.signal)];
  await Promise.all([podCache.synced, nodeCache.synced]);
  const lead = () => {
    const stopped = new AbortController();
    const leading = controller.run(stopped.signal);
    return async () => {
      stopped.abort();
      await leading;
    };
  };
  let endReign = lead();
  return {
    /** Stops leading; the caches go on. */
    stopLeading: () => endReign(),
    leadAgain: () => {
      endReign = lead();
    },
    stop: async () => {
      await endReign();
      stopping.abort();
      await Promise.all(running);
    },
  };
};
