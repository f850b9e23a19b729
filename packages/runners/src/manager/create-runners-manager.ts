import { runnersLeaderElectionID } from '@tartan/api';
import {
  countingTransport,
  createClient,
  createEventRecorder,
  createHealth,
  createLeaderElection,
  createManager,
  fired,
  type Gate,
  type Health,
  type ManagerResult,
  openGate,
  whileServing,
} from '@tartan/kube';
import { createGitHubAccounts } from '../github-accounts/create-github-accounts.ts';
import { poolStates } from '../metrics/pool-state.ts';
import { createRunnerMetrics, type RunnerMetrics } from '../metrics/runner-metrics.ts';
import { createRunnerPoolController } from '../pool/controller.ts';
import { createCaches } from './caches.ts';
import { type RunnersParts, usualIntervals } from './parts.ts';

export interface RunnersManager {
  /** Once. Resolves when everything has stopped: because `signal` fired, or because a part failed. */
  run(signal: AbortSignal): Promise<ManagerResult>;
  readonly addresses: Health['addresses'];
  readonly metrics: RunnerMetrics;
  /** What destructive acts of this process pass. */
  readonly gate: Gate;
}

/** As Kubernetes shows it beside an event, and beside every field that was written. */
const component = 'runners-controller';
const flushMs = 2_000;

/**
 * The whole runners controller in one object; nothing happens before `run`.
 *
 * Flow: probes and metrics are served; caches list; and while this process leads, pools are looked after. On stop all of that in the
 * opposite order, and the lease is given back.
 */
export const createRunnersManager = (parts: RunnersParts): RunnersManager => {
  const { options, clock, random, identity, log } = parts;
  const { namespace, limits, githubURL, leaderElection } = options;
  const intervals = { ...usualIntervals, ...parts.intervals };
  const metrics = parts.metrics ?? createRunnerMetrics({ clock });
  const transport = countingTransport(parts.transport, { host: parts.apiHost, count: metrics.request });
  const client = createClient(transport, { clock, userAgent: component });
  const events = createEventRecorder({ client, clock, log, component, instance: identity });
  const health = createHealth({ options, metrics, clock, log });
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
      metrics: metrics.leading,
    });
  const gate = election?.gate ?? openGate;
  const caches = createCaches({ client, namespace, clock, random, log });
  const controller = createRunnerPoolController({
    ...caches,
    client,
    services: createGitHubAccounts({
      client,
      clock,
      apiURL: githubURL,
      onCall: metrics.github.call,
      ...(parts.fetch && { fetch: parts.fetch }),
    }),
    events,
    gate,
    clock,
    randomBytes: parts.randomBytes,
    log,
    limits,
    metrics,
    poolMetrics: metrics.runs,
  });
  let leads = false;
  metrics.show(() => (leads ? poolStates(caches, clock.now()) : undefined));
  const reign = {
    name: 'figures of the leader',
    run: async (leading: AbortSignal) => {
      leads = true;
      await fired(leading);
      leads = false;
    },
  };
  const manager = createManager({
    caches,
    controllers: [],
    leaderOnly: [controller, reign],
    ...(election && { leaderElection: election }),
    // The servers run before the manager, and outlive it.
    health: { readyz: health.readyz, run: fired },
    clock,
    log,
    ...intervals,
  });

  return {
    addresses: health.addresses,
    metrics,
    gate,
    run: (signal) =>
      whileServing(health, signal, async (either) => {
        const result = await manager.run(either);
        await events.flush(flushMs);
        return result;
      }),
  };
};
