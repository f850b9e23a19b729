import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { kindNames } from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import {
  type Controller,
  createClient,
  createInformer,
  createLogger,
  createRedactor,
  customResourceDefinitions,
  type Informer,
  inProcessTransport,
  type KubeObject,
  namespaces,
  type OwnerReference,
  type Resource,
  type Transport,
} from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { coreClusters } from '../../core/cluster.ts';

type Send = Transport['send'];

export const namespace = 'fleet';
export const clusters = coreClusters('v1beta2');
const ours: readonly string[] = [kindNames.cluster.kind, kindNames.controlPlane.kind];

/** A Cluster of Cluster API on an embedded Kubernetes with our kinds, on virtual time. */
export const createHarness = async (t: TestContext, startTime?: number) => {
  const clock = manualClock(startTime);
  const kubernetes = await createKubernetes({ clock, controllers: false });
  t.after(() => kubernetes.stop());
  const transport = inProcessTransport(kubernetes.handle, {
    user: { commonName: 'admin', organizations: ['system:masters'] },
  });
  /** What happens between the controller and the server. */
  let between: (send: Send) => Send = (send) => send;
  const writes: string[] = [];
  let underWay = 0;
  /** Lets everything happen that needs no time but that of the processor: tokens are signed on another thread. */
  const settle = async (): Promise<void> => {
    for (let quiet = 0; quiet < 80; quiet += 1) {
      await setImmediate();
      if (underWay > 0) quiet = 0;
    }
  };
  const watched: Transport = {
    ...transport,
    send: async (request) => {
      const path = request.path.split('?')[0] ?? '';
      if (request.method !== 'GET' && !path.endsWith('/events')) writes.push(`${request.method} ${path}`);
      underWay += 1;
      try {
        return await between(transport.send)(request);
      } finally {
        underWay -= 1;
      }
    },
  };
  const client = createClient(transport, { clock });
  const theirs = createClient(watched, { clock });
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (const definition of definitions)
    if (ours.includes(definition.spec.names.kind)) await client.create(customResourceDefinitions, definition);
  for (const definition of coreDefinitions()) await client.create(customResourceDefinitions, definition);
  const cluster = await client.create(clusters, {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { name: 'macs', namespace },
    spec: {},
  });
  const owner: OwnerReference = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    name: 'macs',
    uid: cluster.metadata.uid,
  };

  const lines: string[] = [];
  const redactor = createRedactor();
  // Without the redactor that is told of tokens: what is looked for is whether one gets as far as the logger.
  const log = createLogger({ write: (line) => lines.push(line), clock, level: 'debug' });
  const stopping = new AbortController();
  const running: Promise<void>[] = [];
  t.after(async () => {
    stopping.abort();
    await Promise.all(running);
  });
  return {
    clock,
    client,
    theirs,
    transport: watched,
    kubernetes,
    owner,
    log,
    lines,
    redactor,
    /** What the controller has asked to change, oldest first. */
    writes,
    settle,
    interpose: (wrap: (send: Send) => Send) => {
      between = wrap;
    },
    /** In steps, so that what falls due on the way finds the world as it is then. */
    pass: async (minutes: number) => {
      const step = minutes > 60 ? 5 : 1;
      for (let passed = 0; passed < minutes; passed += step) {
        await settle();
        clock.advance(step * 60_000);
      }
      await settle();
    },
    follow: async <T extends KubeObject>(resource: Resource<T>): Promise<Informer<T>> => {
      const cache = createInformer({ client: theirs, resource, clock, random: () => 0.5, log });
      running.push(cache.run(stopping.signal));
      await cache.synced;
      return cache;
    },
    run: async (controller: Controller): Promise<void> => {
      running.push(controller.run(stopping.signal));
      await settle();
    },
    setPaused: async (paused: boolean): Promise<void> => {
      await client.patch(clusters, { namespace, name: 'macs' }, { type: 'merge', body: { spec: { paused } } });
      await settle();
    },
  };
};
