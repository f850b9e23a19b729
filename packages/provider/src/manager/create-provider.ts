import { labelValues, leaderElectionID } from '@tartan/api';
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
  type Redactor,
  type Transport,
  untilAborted,
  whileServing,
  withRequestMetrics,
} from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';
import type { HostPool } from '@tartan/scaleway';
import type { ProviderOptions } from '../flags/provider-options.ts';
import type { HostSettings } from '../host-work/host-settings.ts';
import type { HostWork } from '../host-work/host-work.ts';
import type { Limits } from '../mac-host/snapshot.ts';
import { createCaches } from './caches.ts';
import { createControllers } from './controllers.ts';
import { type CoreVersion, findCoreVersion } from './core-version.ts';
import { createProviderMetrics, type ProviderMetrics, watchBootstrapDurations } from './provider-metrics.ts';
import { createScalewayPermissionCheck } from './scaleway-permissions.ts';

/** All that a manager is made of. The caller owns transport and pool, and closes them when `run` has ended. */
export interface ProviderDeps {
  readonly options: ProviderOptions;
  readonly transport: Transport;
  /** Host and port of the API server, for metrics. */
  readonly apiHost: string;
  /** PEM: the authority of the cluster, for Macs and for core. Undefined when everybody trusts it anyway. */
  readonly ca: string | undefined;
  readonly pool: HostPool;
  readonly settings: HostSettings;
  /** SSH unless told. */
  readonly hostWork?: HostWork;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** That of the log: it is told of every secret that is made or read. */
  readonly redactor: Redactor;
  /** No other process has it, also not this one when it is restarted. */
  readonly identity: string;
  /** One of its own unless given: whoever meters the pool gives the one that hears of its calls. */
  readonly metrics?: ProviderMetrics;
  readonly intervals?: Partial<Intervals>;
}

/** How patient the manager is. Each has a value that fits production; what people may want to change is a flag. */
export interface Intervals {
  /** For core to be found, and again for the first lists of all caches. */
  readonly syncDeadlineMs: number;
  readonly coreRetryMs: number;
  readonly rightsRetryMs: number;
  readonly rightsAgainMs: number;
  /** For everything to stop. Kubernetes kills after 30 s. */
  readonly stopDeadlineMs: number;
  /** Between two lists of a zone. */
  readonly inventoryMs: number;
  /** Of what is done to servers at Scaleway. */
  readonly hosts: Partial<Limits>;
}

const defaultIntervals: Omit<Intervals, 'inventoryMs' | 'hosts'> = {
  syncDeadlineMs: 120_000,
  coreRetryMs: 5_000,
  rightsRetryMs: 60_000,
  rightsAgainMs: 10 * 60_000,
  stopDeadlineMs: 25_000,
};

/** So many looks at a server that should be reinstalling, and it is asked for once more. */
const pollsUntilReinstall = 12;
/** So many, and a machine that finds no Mac gets one reinstalled for it. */
const pollsUntilOSDemand = 6;

/** Longer than `maxCallAgeMs` with the usual interval, on which managers that share a Scaleway project rely. */
const pollsUntilConfirmed = 2;
/** Longer than the usual interval between two lists of a zone. */
const pollsOfUnwipedGrace = 18;

const intervalsOf = ({ options: { pollIntervals }, intervals }: ProviderDeps): Intervals => {
  const { pollMs = pollIntervals.hostMs } = intervals?.hosts ?? {};
  return {
    ...defaultIntervals,
    inventoryMs: pollIntervals.inventoryMs,
    ...intervals,
    hosts: {
      pollMs,
      claimConfirmMs: pollsUntilConfirmed * pollMs,
      unwipedGraceMs: pollsOfUnwipedGrace * pollMs,
      reinstallStartMs: pollsUntilReinstall * pollIntervals.hostMs,
      demandMs: pollsUntilOSDemand * pollIntervals.hostMs,
      ...intervals?.hosts,
    },
  };
};

export interface Provider {
  /** Once. Resolves when everything has stopped: because `signal` fired, or because a part failed. */
  run(signal: AbortSignal): Promise<ManagerResult>;
  readonly addresses: HealthServers['addresses'];
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
 * Guarantees: what is not there yet (core, a right at Scaleway) is waited for, and said in `readyz` and the log (INC-301, INC-333).
 */
export const createProvider = (parts: ProviderDeps): Provider => {
  const { options, clock, random, identity } = parts;
  const intervals = intervalsOf(parts);
  const metrics = parts.metrics ?? createProviderMetrics({ clock });
  const log = parts.log;
  const transport = withRequestMetrics(parts.transport, { host: parts.apiHost, count: metrics.countRequest });
  const client = createClient(transport, { clock, userAgent: component });
  const events = createEventRecorder({ client, clock, log, component, instance: identity });
  const health = createHealthServers({ options, metrics, clock, log });
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
      metrics: metrics.setLeader,
    });
  const gate = election?.gate ?? alwaysOpenGate;
  const rights = createScalewayPermissionCheck({
    pool: parts.pool,
    zones: options.sweep.zones,
    clock,
    log,
    retryMs: intervals.rightsRetryMs,
    againMs: intervals.rightsAgainMs,
  });

  const runManager = (coreVersion: CoreVersion, signal: AbortSignal): Promise<ManagerResult> => {
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
    metrics.state.setSource(() => {
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
    const leadership = {
      name: 'figures of the leader',
      run: async (leading: AbortSignal) => {
        leads = true;
        await untilAborted(leading);
        leads = false;
      },
    };
    const manager = createManager({
      caches,
      controllers: [rights],
      leaderOnly: [
        ...controllers,
        watchBootstrapDurations(caches.machines, clock, metrics.bootstrapSeconds),
        leadership,
      ],
      ...(election && { leaderElection: election }),
      // The servers run since before there was a manager, and outlive it.
      health: { readyz: health.readyz, run: untilAborted },
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
        return runManager(found.version, signal);
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
