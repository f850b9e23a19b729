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
  /** PEM: the CA of the cluster, for Macs and for core. Undefined if it is publicly trusted. */
  readonly ca: string | undefined;
  readonly pool: HostPool;
  readonly settings: HostSettings;
  /** Default: SSH. */
  readonly hostWork?: HostWork;
  /** That of the log: every secret must be added. */
  readonly redactor: Redactor;
  /** Default: its own. */
  readonly metrics?: ProviderMetrics;
  readonly intervals?: Intervals;
}

/** Shortened in tests. What users may want to change is a flag. */
interface Intervals {
  /** For finding core, and again for the initial sync of all caches. */
  readonly syncDeadlineMs?: number;
  /** For changes of servers at Scaleway. */
  readonly hosts?: Partial<Limits>;
}

const defaultSyncDeadlineMs = 120_000;
const coreRetryMs = 5_000;
const permissionIntervals = { retryMs: 60_000, againMs: 10 * 60_000 };

/** After this many polls without a reinstall, it is requested again. */
const pollsUntilReinstall = 12;
/** After this many polls, a free Mac is reinstalled for a machine that finds none. */
const pollsUntilOSDemand = 6;

/** With the default interval this is longer than `maxCallAgeMs`, on which managers that share a Scaleway project rely. */
const pollsUntilConfirmed = 2;
/** Longer than the default interval between two lists of a zone. */
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
 * The whole provider; nothing happens before `run`.
 * Flow: serve probes and metrics; find the version of Cluster API core; sync the caches; check the permissions of the Scaleway key; run
 * every controller while this process leads. On stop the reverse, and the lease is released.
 * Guarantees: waits for what is missing (core, a permission at Scaleway), and names it in `readyz` and the log (INC-301, INC-333).
 */
export const createProvider = (deps: ProviderDeps) => {
  const { options, clock, random, log } = deps;
  const syncDeadlineMs = deps.intervals?.syncDeadlineMs ?? defaultSyncDeadlineMs;
  const metrics = deps.metrics ?? createProviderMetrics({ clock });
  const names = { component: labelValues.managedBy, lease: leaderElectionID };
  const assembly = assembleManager(deps, metrics, names);
  const { clientFor, gate, readyz, addresses, isLeading, serve, manage } = assembly;
  const client = clientFor('caches');
  const permissions = createScalewayPermissionCheck({
    pool: deps.pool,
    zones: options.sweep.zones,
    clock,
    log,
    ...permissionIntervals,
  });

  const runControllers = (coreVersion: CoreVersion, signal: AbortSignal): Promise<ManagerResult> => {
    const { secretsNamespace } = options;
    const tailscaleSecretName = deps.settings.tailscale?.authKeySecretName;
    const caches = createCaches({ client, clock, random, log, coreVersion, secretsNamespace, tailscaleSecretName });
    const controllers = createControllers({
      parts: deps,
      hostLimits: hostLimitsOf(deps),
      caches,
      coreVersion,
      metrics,
      ...assembly,
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
    /** Guards every destructive call of this process. */
    gate,
    /** To be called once. Resolves when everything has stopped, by `signal` or after a failure. */
    run: (signal: AbortSignal): Promise<ManagerResult> => {
      readyz.set('scaleway', permissions.check);
      return serve(signal, start);
    },
  };
};

export type Provider = ReturnType<typeof createProvider>;
