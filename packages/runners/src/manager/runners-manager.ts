import { runnersLeaderElectionID } from '@tartan/api';
import {
  alwaysOpenGate,
  createClient,
  createEventRecorder,
  createHealthServers,
  createLeaderElection,
  createManager,
  type Gate,
  type HealthServers,
  type Logger,
  type ManagerResult,
  type Transport,
  untilAborted,
  whileServing,
  withRequestMetrics,
} from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';
import type { RunnersOptions } from '../flags.ts';
import { poolStates } from '../metrics/pool-gauges.ts';
import { createRunnerMetrics, type RunnerMetrics } from '../metrics/runner-metrics.ts';
import { createRunnerPoolController } from '../pool/controller.ts';
import { createServiceForPool } from '../pool/github/service-for-pool.ts';
import { createCaches } from './caches.ts';

/** All that a runners controller is made of. The caller owns the transport, and closes it when `run` has ended. */
export interface RunnersManagerDeps {
  readonly options: RunnersOptions;
  readonly transport: Transport;
  /** Host and port of the API server, for metrics. */
  readonly apiHost: string;
  /** How GitHub is asked. The one of the platform unless told. */
  readonly fetch?: typeof fetch;
  readonly clock: Clock;
  readonly random: Random;
  /** Unguessable: names of runners are made of it. */
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Logger;
  /** No other process has it, also not this one when it is restarted. */
  readonly identity: string;
  /** One of its own unless given. */
  readonly metrics?: RunnerMetrics;
}

/** For the first lists of all caches. */
const syncDeadlineMs = 120_000;
/** For everything to stop. Kubernetes kills after 30 s. */
const stopDeadlineMs = 25_000;

interface RunnersManager {
  /** Once. Resolves when everything has stopped: because `signal` fired, or because a part failed. */
  run(signal: AbortSignal): Promise<ManagerResult>;
  readonly addresses: HealthServers['addresses'];
  readonly metrics: RunnerMetrics;
  /** What destructive acts of this process pass. */
  readonly gate: Gate;
}

/** As Kubernetes shows it beside an event, and beside every field that was written. */
const component = 'runners-controller';
const eventFlushMs = 2_000;

/**
 * The whole runners controller in one object; nothing happens before `run`.
 *
 * Flow: probes and metrics are served; caches list; and while this process leads, pools are looked after. On stop all of that in the
 * opposite order, and the lease is given back.
 */
export const createRunnersManager = (deps: RunnersManagerDeps): RunnersManager => {
  const { options, clock, random, identity, log } = deps;
  const { namespace, limits, githubURL, leaderElection } = options;
  const metrics = deps.metrics ?? createRunnerMetrics({ clock });
  const transport = withRequestMetrics(deps.transport, { host: deps.apiHost, count: metrics.countRequest });
  const client = createClient(transport, { clock, userAgent: component });
  const events = createEventRecorder({ client, clock, log, component, instance: identity });
  const health = createHealthServers({ options, metrics, clock, log });
  const election =
    leaderElection &&
    createLeaderElection({
      client,
      clock,
      random,
      lease: { namespace: leaderElection.namespace, name: runnersLeaderElectionID },
      identity,
      durations: leaderElection.durations,
      log,
      metrics: metrics.setLeader,
    });
  const gate = election?.gate ?? alwaysOpenGate;
  const caches = createCaches({ client, namespace, clock, random, log });
  const controller = createRunnerPoolController({
    ...caches,
    client,
    serviceForPool: createServiceForPool({
      client,
      clock,
      apiURL: githubURL,
      onCall: metrics.github.call,
      ...(deps.fetch && { fetch: deps.fetch }),
    }),
    events,
    gate,
    clock,
    randomBytes: deps.randomBytes,
    log,
    limits,
    metrics,
    poolMetrics: metrics.runs,
  });
  let isLeading = false;
  metrics.setPoolReader(() => (isLeading ? poolStates(caches, clock.now()) : undefined));
  const leadershipTracker = {
    name: 'leader metrics',
    run: async (leading: AbortSignal) => {
      isLeading = true;
      await untilAborted(leading);
      isLeading = false;
    },
  };
  const manager = createManager({
    caches,
    controllers: [],
    leaderOnly: [controller, leadershipTracker],
    ...(election && { leaderElection: election }),
    // The servers run before the manager, and outlive it.
    health: { readyz: health.readyz, run: untilAborted },
    clock,
    log,
    syncDeadlineMs,
    stopDeadlineMs,
  });

  return {
    addresses: health.addresses,
    metrics,
    gate,
    run: (signal) =>
      whileServing(health, signal, async (either) => {
        const result = await manager.run(either);
        await events.flush(eventFlushMs);
        return result;
      }),
  };
};
