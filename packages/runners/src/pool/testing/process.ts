import { runnerPool } from '@tartan/api';
import {
  type Client,
  createInformer,
  createLogger,
  type EventInput,
  type Informer,
  type KubeObject,
  nodes,
  pods,
  type Resource,
  serviceAccounts,
} from '@tartan/kube';
import type { ManualClock } from '@tartan/kube/clock';
import type { PoolMetrics } from '../../metrics/run-counters.ts';
import { createRunnerPoolControllers } from '../controller.ts';
import { createServiceForPool } from '../github/service-for-pool.ts';
import { defaultLimits, type Limits } from '../limits.ts';
import { accountIndexes, podIndexes } from '../watches.ts';

export interface ProcessOptions {
  readonly client: Client;
  readonly fetch: typeof fetch;
  readonly clock: ManualClock;
  readonly namespace: string;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly onEvent: (event: EventInput) => void;
  readonly poolMetrics?: Partial<PoolMetrics>;
  readonly limits?: Limits;
  /** Throws when this process does not lead. */
  readonly gate?: () => void;
  readonly onError?: (line: string) => void;
}

/** One process of the controller: caches and reconciles. */
export const startProcess = async (options: ProcessOptions) => {
  const { client, clock, namespace } = options;
  const log = createLogger({ write: (line) => options.onError?.(line), clock, level: 'warn' });
  const stopping = new AbortController();
  const running: Promise<void>[] = [];
  const follow = async <T extends KubeObject>(
    resource: Resource<T>,
    more: Partial<Parameters<typeof createInformer<T>>[0]> = {},
  ): Promise<Informer<T>> => {
    const cache = createInformer({ client, resource, clock, random: () => 0.5, log, ...more });
    running.push(cache.run(stopping.signal));
    return cache;
  };
  const caches = {
    pools: await follow(runnerPool.resource, { namespace }),
    pods: await follow(pods, { namespace, indexes: podIndexes }),
    accounts: await follow(serviceAccounts, { namespace, indexes: accountIndexes }),
    nodes: await follow(nodes),
  };
  let inFlight = 0;
  const observer = { started: () => {}, began: () => void (inFlight += 1), ended: () => void (inFlight -= 1) };
  const idle = { added: () => {}, taken: () => {}, finished: () => {}, delayed: () => {}, stopped: () => {} };
  const controllers = createRunnerPoolControllers({
    ...caches,
    client,
    clock,
    log,
    serviceForPool: createServiceForPool({ client, clock, fetch: options.fetch }),
    events: { event: (_object: KubeObject, event: EventInput) => options.onEvent(event) },
    gate: {
      pass: () => {
        options.gate?.();
        return { remainingMs: 10_000 };
      },
    },
    randomBytes: options.randomBytes,
    limits: options.limits ?? defaultLimits,
    poolMetrics: { reaped: () => {}, unreachable: () => {}, forget: () => {}, ...options.poolMetrics },
    metrics: { controller: () => observer, queue: () => idle },
  });
  let term = new AbortController();
  const lead = async (): Promise<void> => {
    await Promise.all(Object.values(caches).map((cache) => cache.synced));
    const signal = AbortSignal.any([stopping.signal, term.signal]);
    if (!signal.aborted) await Promise.all(controllers.map((each) => each.run(signal)));
  };
  let leading = lead();
  return {
    get isWorking() {
      return inFlight > 0;
    },
    /** Its caches go on. */
    stopLeading: async () => {
      term.abort();
      await leading;
    },
    leadAgain: () => {
      term = new AbortController();
      leading = lead();
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
};

export type Process = Awaited<ReturnType<typeof startProcess>>;
