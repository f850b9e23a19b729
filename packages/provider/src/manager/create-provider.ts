import { labelValues, leaderElectionID } from '@tartan/api';
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
import { bootstrapDurations } from './bootstrap-durations.ts';
import { createCaches } from './caches.ts';
import { createControllers } from './controllers.ts';
import { type CoreVersion, findCoreVersion } from './core-version.ts';
import { intervalsOf, type ProviderParts } from './parts.ts';
import { createProviderMetrics, type ProviderMetrics } from './provider-metrics.ts';
import { createScalewayRights } from './scaleway-rights.ts';

export interface Provider {
  /** Once. Resolves when everything has stopped: because `signal` fired, or because a part failed. */
  run(signal: AbortSignal): Promise<ManagerResult>;
  readonly addresses: Health['addresses'];
  readonly metrics: ProviderMetrics;
  /** What destructive acts of this process pass. */
  readonly gate: Gate;
}

/** As Kubernetes shows it beside an event, and beside every field that was written. */
const component = labelValues.managedBy;
const flushMs = 2_000;

/**
 * The whole provider in one object; nothing happens before `run`.
 *
 * Flow: probes and metrics are served; the version of Cluster API core is found; caches list; Scaleway is asked whether the key is good;
 * and while this process leads, every controller works. On stop all of that in the opposite order, and the lease is given back.
 * Guarantees: what is not there yet (core, a right at Scaleway) is waited for, and said in `readyz` and the log (I-01, I-33).
 */
export const createProvider = (parts: ProviderParts): Provider => {
  const { options, clock, random, identity } = parts;
  const intervals = intervalsOf(parts);
  const metrics = parts.metrics ?? createProviderMetrics({ clock });
  const log = parts.log;
  const transport = countingTransport(parts.transport, { host: parts.apiHost, count: metrics.request });
  const client = createClient(transport, { clock, userAgent: component });
  const events = createEventRecorder({ client, clock, log, component, instance: identity });
  const health = createHealth({ options, metrics, clock, log });
  const election =
    options.leaderElection &&
    createLeaderElection({
      client,
      clock,
      random,
      lease: { namespace: options.leaderElection.namespace, name: leaderElectionID },
      identity,
      durations: options.leaderElection.durations,
      log,
      metrics: metrics.leading,
    });
  const gate = election?.gate ?? openGate;
  const rights = createScalewayRights({
    pool: parts.pool,
    zones: options.sweep.zones,
    clock,
    log,
    retryMs: intervals.rightsRetryMs,
    againMs: intervals.rightsAgainMs,
  });

  const work = (coreVersion: CoreVersion, signal: AbortSignal): Promise<ManagerResult> => {
    const { secretsNamespace } = options;
    const caches = createCaches({ client, clock, random, log, coreVersion, secretsNamespace });
    const controllers = createControllers({
      parts,
      intervals,
      caches,
      coreVersion,
      client,
      transport,
      events,
      metrics,
      gate,
    });
    let leads = false;
    metrics.state.show(() => {
      if (!leads) return undefined;
      return {
        machines: caches.machines.list(),
        hosts: caches.macHosts.list(),
        fleets: caches.macFleets.list(),
        controlPlanes: caches.controlPlanes.list(),
        pods: caches.pods.list(),
        nodes: caches.nodes.list(),
        now: clock.now(),
      };
    });
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
      controllers: [rights],
      leaderOnly: [...controllers, bootstrapDurations(caches.machines, clock, metrics.bootstrapSeconds), reign],
      ...(election && { leaderElection: election }),
      // The servers run since before there was a manager, and outlive it.
      health: { readyz: health.readyz, run: fired },
      clock,
      log,
      syncDeadlineMs: intervals.syncDeadlineMs,
      stopDeadlineMs: intervals.stopDeadlineMs,
    });
    return manager.run(signal);
  };

  const findCore = async (signal: AbortSignal): ReturnType<typeof findCoreVersion> => {
    let problem: string | undefined = 'Cluster API core has not been looked for yet';
    health.readyz.set('cluster-api', () => problem);
    const found = await findCoreVersion(
      {
        client,
        clock,
        log,
        deadlineMs: intervals.syncDeadlineMs,
        retryMs: intervals.coreRetryMs,
        onProblem: (text) => {
          problem = text;
        },
      },
      signal,
    );
    if (found.kind === 'found') problem = undefined;
    return found;
  };

  const start = async (signal: AbortSignal): Promise<ManagerResult> => {
    const found = await findCore(signal);
    switch (found.kind) {
      case 'stopped':
        return { ok: true };
      case 'missing':
        return { ok: false, reason: found.problem };
      case 'found':
        log.info('Cluster API core is found', { version: found.version });
        return work(found.version, signal);
    }
  };

  return {
    addresses: health.addresses,
    metrics,
    gate,
    run: (signal) => {
      health.readyz.set('scaleway', rights.check);
      return whileServing(health, signal, async (either) => {
        const result = await start(either);
        await events.flush(flushMs);
        return result;
      });
    },
  };
};
