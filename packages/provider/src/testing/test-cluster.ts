import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { definitions } from '@tartan/api/crds';
import {
  type Controller,
  createClient,
  createInformer,
  createLogger,
  customResourceDefinitions,
  type Informer,
  inProcessTransport,
  type KubeObject,
  namespaces,
  type Resource,
  serviceAccounts,
  type Transport,
} from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { indexesOf } from '../indexes.ts';

type Send = Transport['send'];

interface TestClusterOptions {
  readonly namespace: string;
  /** Our kinds to install. Cluster API core's are installed with them. */
  readonly kinds?: readonly string[];
  readonly startTime?: number | undefined;
  /** Whether Kubernetes' own controllers run. */
  readonly controllers?: boolean;
  /** Called with each request of the controller under test. */
  readonly onRequest?: (method: string, path: string) => void;
}

/** An embedded Kubernetes on virtual time, and what tests of a controller need. */
export const createTestCluster = async (t: TestContext, options: TestClusterOptions) => {
  const { namespace, kinds, startTime, controllers = false, onRequest } = options;
  const clock = manualClock(startTime);
  const kubernetes = await createKubernetes({ clock, controllers });
  t.after(() => kubernetes.stop());
  const user = { commonName: 'admin', organizations: ['system:masters'] };
  const direct = inProcessTransport(kubernetes.handle, { user });
  let between: (send: Send) => Send = (send) => send;
  let inFlight = 0;
  const transport: Transport = {
    ...direct,
    send: async (request) => {
      onRequest?.(request.method, request.path);
      inFlight += 1;
      try {
        return await between(direct.send)(request);
      } finally {
        inFlight -= 1;
      }
    },
  };
  const client = createClient(direct, { clock });
  const theirs = createClient(transport, { clock });
  const metadata = { name: 'default', namespace };
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  if (kinds)
    for (const definition of [
      ...definitions.filter(({ spec }) => kinds.includes(spec.names.kind)),
      ...coreDefinitions(),
    ])
      await client.create(customResourceDefinitions, definition);

  const lines: string[] = [];
  const log = createLogger({ write: (line) => lines.push(line), clock, level: 'debug' });
  const stopping = new AbortController();
  const running: Promise<void>[] = [];
  t.after(async () => {
    stopping.abort();
    await Promise.all(running);
  });
  /** Waits until no request is in flight, and the effects of the last one have happened. */
  const settle = async (): Promise<void> => {
    for (let quiet = 0; quiet < 80; quiet += 1) {
      await setImmediate();
      if (inFlight > 0) quiet = 0;
    }
  };
  return {
    clock,
    kubernetes,
    /** With all rights. */
    client,
    /** Of the controller under test. */
    theirs,
    transport,
    log,
    lines,
    settle,
    /** Wraps the requests of the controller. */
    interpose: (wrap: (send: Send) => Send) => {
      between = wrap;
    },
    /** Advances the clock in steps, so that timers fire at their time. */
    advance: async (milliseconds: number, step: number): Promise<void> => {
      for (let passed = 0; passed < milliseconds; passed += step) {
        await settle();
        clock.advance(step);
      }
      await settle();
    },
    follow: async <T extends KubeObject>(resource: Resource<T>): Promise<Informer<T>> => {
      const cache = createInformer({
        client: theirs,
        resource,
        indexes: indexesOf(resource),
        clock,
        random: () => 0.5,
        log,
      });
      running.push(cache.run(stopping.signal));
      await cache.synced;
      return cache;
    },
    run: async (controller: Controller): Promise<void> => {
      running.push(controller.run(stopping.signal));
      await settle();
    },
  };
};
