import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { finalizers } from '@tartan/api';
import {
  type Client,
  createClient,
  createEventRecorder,
  createInformer,
  createLogger,
  createMetrics,
  events,
  ignoreNotFound,
  inProcessTransport,
  namespaces,
  nodes,
  pods,
  serviceAccounts,
  type Transport,
} from '@tartan/kube';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { isHeldByAgent, trimPod } from '../../manager/caches.ts';
import { createReleaseCounter } from '../../manager/provider-metrics.ts';
import { createPodRelease } from '../controller.ts';

type Send = Transport['send'];

const namespace = 'runners';
const log = createLogger({ write: () => {}, clock: manualClock(), level: 'error' });

/** Lets everything happen that needs no time. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 60; turn += 1) await setImmediate();
};

/** Nodes, Pods and the controller on an embedded Kubernetes without controllers of its own, on virtual time. */
export const createHarness = async (t: TestContext, { builtInControllers = false } = {}) => {
  const clock = manualClock();
  const kubernetes = await createKubernetes({ clock, controllers: builtInControllers });
  t.after(() => kubernetes.stop());
  const transport = inProcessTransport(kubernetes.handle, {
    user: { commonName: 'admin', organizations: ['system:masters'] },
  });
  /** What happens between the controller and the server. */
  let between: (send: Send) => Send = (send) => send;
  const client = createClient(transport, { clock });
  const theirs = createClient({ ...transport, send: (request) => between(transport.send)(request) }, { clock });
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } } as const;
  await client.create(serviceAccounts, account);
  const metrics = createMetrics({ clock });
  const count = createReleaseCounter(metrics.registry);
  return {
    client,
    clock,
    settle,
    interpose: (wrap: (send: Send) => Send) => {
      between = wrap;
    },
    start: (options?: { nodesWith?: string }) => startProcess(theirs, clock, count, options),
    /** In steps, so that what falls due on the way finds the world as it is then. */
    pass: async (minutes: number) => {
      for (let half = 0; half < minutes * 2; half += 1) {
        await settle();
        clock.advance(30_000);
      }
      await settle();
    },
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

/** A process, of which the caches can be told to hold fewer Nodes, and the controller can be stopped and run again. */
const startProcess = async (
  client: Client,
  clock: ManualClock,
  count: ReturnType<typeof createReleaseCounter>,
  { nodesWith }: { nodesWith?: string } = {},
) => {
  const common = { client, clock, random: () => 0.5, log };
  const podCache = createInformer({ ...common, resource: pods, filter: isHeldByAgent, transform: trimPod });
  const nodeCache = createInformer({ ...common, resource: nodes, ...(nodesWith && { labelSelector: nodesWith }) });
  const recorder = createEventRecorder({ client, clock, log, component: 'pod-release', instance: 'test' });
  const caches = { pods: podCache, nodes: nodeCache };
  const controller = createPodRelease({ ...caches, client, clock, log, events: recorder, count });
  const stopping = new AbortController();
  const running = [podCache.run(stopping.signal), nodeCache.run(stopping.signal)];
  await Promise.all([podCache.synced, nodeCache.synced]);
  const lead = () => {
    const leading = new AbortController();
    const reign = controller.run(leading.signal);
    return async () => {
      leading.abort();
      await reign;
    };
  };
  let endReign = lead();
  return {
    /** Does not lead any more; the caches go on. */
    abdicate: () => endReign(),
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
