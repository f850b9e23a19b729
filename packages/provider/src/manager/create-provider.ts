import { labelValues, leaderElectionID } from '@tartan/api';
import { assembleManager, type ManagerDeps, type ManagerResult, type Redactor } from '@tartan/kube';
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

export interface ProviderDeps extends ManagerDeps<ProviderOptions> {
  /** PEM: the authority of the cluster, for Macs and for core. Undefined when everybody trusts it anyway. */
  readonly ca: string | undefined;
  readonly pool: HostPool;
  readonly settings: HostSettings;
  /** SSH unless told. */
  readonly hostWork?: HostWork;
  /** That of the log: it must know every secret that is made or read. */
  readonly redactor: Redactor;
  /** One of its own unless given. */
  readonly metrics?: ProviderMetrics;
  readonly intervals?: Intervals;
}

/** What tests shorten. What people may want to change is a flag. */
interface Intervals {
  /** For core to be found, and again for the first lists of all caches. */
  readonly syncDeadlineMs?: number;
  /** Of what is done to servers at Scaleway. */
  readonly hosts?: Partial<Limits>;
}

const defaultSyncDeadlineMs = 120_000;
const coreRetryMs = 5_000;
const permissionIntervals = { retryMs: 60_000, againMs: 10 * 60_000 };

/** So many looks at a server that should be reinstalling, and it is asked for once more. */
const pollsUntilReinstall = 12;
/** So many, and a machine that finds no Mac gets one reinstalled for it. */
const pollsUntilOSDemand = 6;

/** Longer than `maxCallAgeMs` with the usual interval, on which managers that share a Scaleway project rely. */
const pollsUntilConfirmed = 2;
/** Longer than the usual interval between two lists of a zone. */
const pollsOfUnwipedGrace = 18;

const hostLimitsOf = ({ options: { pollIntervals }, intervals }: ProviderDeps): Partial<Limits> => {
  const { pollMs = pollIntervals.hostMs } = intervals?.hosts ?? {};
  return {
    pollMs,
    claimConfirmMs: pollsUntilConfirmed * pollMs,
    unwipedGraceMs: pollsOfUnwipedGrace * pollMs,
    reinstallStartMs: pollsUntilReinstall * pollIntervals.hostMs,
    demandMs: pollsUntilOSDemand * pollIntervals.hostMs,
    ...intervals?.hosts,
  };
};

/**
 * The whole provider in one object; nothing happens before `run`.
 *
 * Flow: probes and metrics are served; the version of Cluster API core is found; caches list; the permissions of the Scaleway key are
 * checked; and while this process leads, every controller runs. On stop all of that in the opposite order, and the lease is released.
 * Guarantees: it waits for what is missing (core, a permission at Scaleway), and names it in `readyz` and the log (INC-301, INC-333).
 */
export const createProvider = (deps: ProviderDeps) => {
  const { options, clock, random, log } = deps;
  const syncDeadlineMs = deps.intervals?.syncDeadlineMs ?? defaultSyncDeadlineMs;
  const metrics = deps.metrics ?? createProviderMetrics({ clock });
  const names = { component: labelValues.managedBy, lease: leaderElectionID };
  const assembly = assembleManager(deps, metrics, names);
  const { client, transport, events, gate, readyz, addresses, isLeading, serve, manage } = assembly;
  const permissions = createScalewayPermissionCheck({
    pool: deps.pool,
    zones: options.sweep.zones,
    clock,
    log,
    ...permissionIntervals,
  });

  const runControllers = (coreVersion: CoreVersion, signal: AbortSignal): Promise<ManagerResult> => {
    const { secretsNamespace } = options;
    const caches = createCaches({ client, clock, random, log, coreVersion, secretsNamespace });
    const controllers = createControllers({
      parts: deps,
      hostLimits: hostLimitsOf(deps),
      caches,
      coreVersion,
      client,
      transport,
      events,
      metrics,
      gate,
    });
    metrics.state.setSource(() => {
      if (!isLeading()) return undefined;
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
    return manage(
      {
        caches,
        controllers: [permissions],
        leaderOnly: [...controllers, watchBootstrapDurations(caches.machines, clock, metrics.bootstrapSeconds)],
        syncDeadlineMs,
      },
      signal,
    );
  };

  const start = async (signal: AbortSignal): Promise<ManagerResult> => {
    let problem: string | undefined = 'Cluster API core has not been looked for yet';
    readyz.set('cluster-api', () => problem);
    const found = await findCoreVersion(
      {
        client,
        clock,
        log,
        deadlineMs: syncDeadlineMs,
        retryMs: coreRetryMs,
        onProblem: (text) => {
          problem = text;
        },
      },
      signal,
    );
    if (typeof found !== 'string') return found;
    problem = undefined;
    log.info('Cluster API core is found', { version: found });
    return runControllers(found, signal);
  };

  return {
    addresses,
    metrics,
    /** Every destructive call of this process passes it. */
    gate,
    /** Once. Resolves when everything has stopped: because `signal` fired, or because a part failed. */
    run: (signal: AbortSignal): Promise<ManagerResult> => {
      readyz.set('scaleway', permissions.check);
      return serve(signal, start);
    },
  };
};

export type Provider = ReturnType<typeof createProvider>;
