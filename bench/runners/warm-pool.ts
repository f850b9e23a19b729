import { annotations, finalizers, labels, labelValues, runnerBusyCondition, runnerPool, secretKeys } from '@tartan/api';
import { createLogger, namespaces, nodes, pods, secrets, serviceAccounts } from '@tartan/kube';
import { systemClock, timestamp } from '@tartan/kube/clock';
import { createInstaller, installProvider, providerFlags, startEmbedded } from '@tartan/sim-fleet';
import { createGitHub } from '@tartan/sim-github';
import { createCaches } from '../../packages/runners/src/manager/caches.ts';
import { createRunnerPoolControllers } from '../../packages/runners/src/pool/controller.ts';
import { createServiceForPool } from '../../packages/runners/src/pool/github/service-for-pool.ts';
import { defaultLimits } from '../../packages/runners/src/pool/limits.ts';
import { accountOf, podOf } from '../../packages/runners/src/pool/pod-template.ts';

export interface WarmPool {
  /** Duration of the next reconcile of the pool, which changes nothing, in milliseconds. */
  pass(): Promise<number>;
  /** Ends a runner. Milliseconds until a Pod is created in its place. */
  turnOver(): Promise<number>;
  stop(): Promise<void>;
}

const namespace = 'bench';
const mac = 'mac-1';
const atOnce = 16;

/**
 * The runner pool controller in this process, an embedded Kubernetes over HTTPS, and a pool of idle runners. There are no Macs: this
 * harness writes what an agent would write. New Pods stay unbound, and get no runner.
 */
export const startWarmPool = async (folder: string, size: number): Promise<WarmPool> => {
  const stops: (() => unknown)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).toReversed()) await each();
  };
  try {
    const controlPlane = await startEmbedded({ folder });
    stops.push(controlPlane.stop);
    await installProvider(controlPlane, createInstaller(controlPlane.client), providerFlags);
    const { client } = controlPlane;
    const github = createGitHub();
    stops.push(github.stop);

    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const { appID, installationID, privateKey } = secretKeys.githubApp;
    await client.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: 'github-app' },
      stringData: { [appID]: String(github.app.id), [installationID]: '7001', [privateKey]: github.app.privateKey },
    });
    await client.create(nodes, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: mac, labels: { [labels.runtime]: labelValues.runtime } },
    });
    const now = timestamp(systemClock.now());
    const isReady = { type: 'Ready', status: 'True', lastHeartbeatTime: now, lastTransitionTime: now };
    await client.patch(
      nodes,
      { name: mac },
      { type: 'merge', body: { status: { conditions: [isReady] } } },
      { subresource: 'status' },
    );
    const pool = await client.create(
      runnerPool.resource,
      runnerPool.make({
        metadata: { namespace, name: 'bench', finalizers: [finalizers.runnerPool] },
        spec: {
          replicas: size,
          image: 'ghcr.io/example/runner:1',
          fleetSelector: 'runners',
          github: { organization: 'acme', appSecretName: 'github-app' },
        },
      }),
    );
    const addRunner = async (number: number): Promise<void> => {
      const name = `bench-runner-${number.toString(16).padStart(8, '0')}`;
      await client.create(serviceAccounts, accountOf(pool, name));
      const { metadata, spec, ...pod } = podOf(pool, name);
      await client.create(pods, {
        ...pod,
        metadata: { ...metadata, name, annotations: { [annotations.runnerID]: String(number + 1) } },
        spec: { ...spec, containers: spec?.containers ?? [], nodeName: mac },
      });
      const waits = { type: runnerBusyCondition, status: 'False', reason: 'WaitsForJob', lastTransitionTime: now };
      await writeStatus(name, { phase: 'Running', conditions: [waits] });
    };
    const writeStatus = (name: string, status: object): Promise<unknown> =>
      client.patch(pods, { namespace, name }, { type: 'merge', body: { status } }, { subresource: 'status' });
    for (let number = 0; number < size; number += atOnce)
      await Promise.all(Array.from({ length: Math.min(atOnce, size - number) }, (_, more) => addRunner(number + more)));

    const log = createLogger({ level: 'error', write: (line) => process.stderr.write(line), clock: systemClock });
    const caches = createCaches({ client, namespace, clock: systemClock, random: Math.random, log });
    const over = new AbortController();
    const running = Object.values(caches).map((cache) => cache.run(over.signal));
    stops.push(() => (over.abort(), Promise.all(running)));
    await Promise.all(Object.values(caches).map((cache) => cache.synced));

    let ended = (_milliseconds: number): void => {};
    let began = 0;
    const observed = {
      started: () => {},
      began: () => {
        began = performance.now();
      },
      ended: () => ended(performance.now() - began),
    };
    const unobserved = { started: () => {}, began: () => {}, ended: () => {} };
    const noQueue = { added: () => {}, taken: () => {}, finished: () => {}, delayed: () => {}, stopped: () => {} };
    const controllers = createRunnerPoolControllers({
      ...caches,
      client,
      clock: systemClock,
      log,
      serviceForPool: createServiceForPool({ client, clock: systemClock, fetch: github.fetch }),
      events: { event: () => {} },
      gate: { pass: () => ({ remainingMs: 10_000 }) },
      randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
      limits: defaultLimits,
      poolMetrics: { reaped: () => {}, unreachable: () => {}, forget: () => {} },
      metrics: {
        controller: (name) => (name === 'runner-pool' ? observed : unobserved),
        queue: () => noQueue,
      },
    });
    const nextPass = (): Promise<number> =>
      new Promise((resolve) => {
        ended = resolve;
      });
    const first = nextPass();
    const worked = Promise.all(controllers.map((each) => each.run(over.signal)));
    stops.push(() => (over.abort(), worked));
    await first;

    const waiting = new Set(caches.pods.list().map(({ metadata }) => metadata.name));
    let timeout = 0;
    return {
      pass: async () => {
        const next = nextPass();
        // A change that causes no action.
        timeout += 1;
        const body = { spec: { idleTimeoutSeconds: timeout } };
        await client.patch(runnerPool.resource, { namespace, name: 'bench' }, { type: 'merge', body });
        return next;
      },
      turnOver: async () => {
        const [name = ''] = waiting;
        waiting.delete(name);
        const known = new Set(caches.pods.list().map(({ metadata }) => metadata.uid));
        const made = Promise.withResolvers<void>();
        const unsubscribe = caches.pods.subscribe((change) => {
          if (change.type === 'added' && !known.has(change.object.metadata.uid)) made.resolve();
        });
        const start = performance.now();
        await writeStatus(name, { phase: 'Succeeded' });
        await made.promise;
        unsubscribe();
        return performance.now() - start;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
