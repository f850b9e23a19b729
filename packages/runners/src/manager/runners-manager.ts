import { runnersLeaderElectionID } from '@tartan/api';
import { assembleManager, type ManagerDeps } from '@tartan/kube';
import type { RunnersOptions } from '../flags.ts';
import { poolStates } from '../metrics/pool-gauges.ts';
import { createRunnerMetrics, type RunnerMetrics } from '../metrics/runner-metrics.ts';
import { createRunnerPoolControllers } from '../pool/controller.ts';
import { createServiceForPool } from '../pool/github/service-for-pool.ts';
import { createCaches } from './caches.ts';

export interface RunnersManagerDeps extends ManagerDeps<RunnersOptions> {
  /** For calls to GitHub. Default: that of the platform. */
  readonly fetch?: typeof fetch;
  /** Cryptographically random: for names of runners. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** Default: a registry of its own. */
  readonly metrics?: RunnerMetrics;
}

/**
 * The whole runners controller in one object; nothing happens before `run`.
 *
 * Flow: probes and metrics are served; caches list; and while this process leads, pools are reconciled. On stop all of that in the
 * opposite order, and the lease is released.
 */
export const createRunnersManager = (deps: RunnersManagerDeps) => {
  const { options, clock, random, log } = deps;
  const { namespace, limits, githubURL } = options;
  const metrics = deps.metrics ?? createRunnerMetrics({ clock });
  const names = { component: 'runners-controller', lease: runnersLeaderElectionID };
  const { clientFor, events, gate, addresses, isLeading, serve, manage } = assembleManager(deps, metrics, names);
  const caches = createCaches({ client: clientFor('caches'), namespace, clock, random, log });
  const client = clientFor('runner-pool');
  const controllers = createRunnerPoolControllers({
    ...caches,
    client,
    sweepClient: clientFor('runner-sweep'),
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
  metrics.setPoolReader(() => (isLeading() ? poolStates(caches, clock.now()) : undefined));

  return {
    addresses,
    metrics,
    gate,
    /** Once. Resolves when everything has stopped: because `signal` fired, or because a part failed. */
    run: (signal: AbortSignal) => serve(signal, (either) => manage({ caches, leaderOnly: controllers }, either)),
  };
};
