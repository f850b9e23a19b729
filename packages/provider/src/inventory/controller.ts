import { machine, macHost } from '@tartan/api';
import {
  type Client,
  type Controller,
  createController,
  done,
  isKubeError,
  type Logger,
  type Reconciler,
  requeueAfter,
  type Source,
} from '@tartan/kube';
import { type HostPool, ScalewayError } from '@tartan/scaleway';
import type { ControllerDeps, Informers } from '../controller-deps.ts';
import type { ProviderOptions } from '../flags/provider-options.ts';
import { decide, type Decision, observe } from './decide.ts';
import type { ServerCache } from './server-cache.ts';

interface InventoryOptions
  extends ControllerDeps,
    ZoneDeps,
    Pick<ProviderOptions, 'defaultPoolPrefix' | 'allowedPoolPrefixes'> {
  readonly pool: Pick<HostPool, 'listServers'>;
  readonly serverCache: ServerCache;
  /** Called after each failed list. */
  readonly listFailed: (zone: string) => void;
  /** Default: 60 s. */
  readonly intervalMs?: number;
}

/** Long, because the Scaleway client has already retried when a list fails. */
const backoff = { baseMs: 5000, maxMs: 5 * 60_000 };

/**
 * Lists the zones, and creates a MacHost for every server there. If all MacHosts are lost, they are restored from server names.
 * Needs: get, list, watch of scalewayapplesiliconmachines; get, list, watch, create of machosts.
 */
export const createInventory = (options: InventoryOptions): Controller => {
  const { client, pool, serverCache, macHosts, clock, log, intervalMs = 60_000 } = options;
  const scheduledZones = new Set<string>();

  const reconcile: Reconciler = async (zone, signal) => {
    if (!zonesInUse(options).has(zone)) {
      scheduledZones.delete(zone);
      return done;
    }
    const at = clock.now();
    try {
      const servers = await pool.listServers(zone, { signal });
      serverCache.replaceZone(zone, servers, at);
      const missing = servers.filter(({ id }) => macHosts.get(id) === undefined);
      if (missing.length > 0) {
        const { items } = await client.list(machine.resource, { signal });
        const deps = { ...options, machines: items, now: clock.now() };
        await createMacHosts(client, log, decide(observe(zone, missing, deps)), signal);
      }
      return requeueAfter(intervalMs);
    } catch (error) {
      if (!(error instanceof ScalewayError)) throw error;
      serverCache.zoneFailed(zone, error.message);
      options.listFailed(zone);
      return { kind: 'failed', error };
    }
  };

  return createController({
    ...options,
    name: 'inventory',
    reconcile,
    sources: [zoneSource(options, scheduledZones)],
    backoff,
  });
};

interface ZoneDeps extends Pick<Informers, 'machines' | 'macHosts'> {
  /** Always listed, also after the last machine of a zone is gone. */
  readonly zones: readonly string[];
}

const zonesInUse = ({ zones, machines, macHosts }: ZoneDeps): ReadonlySet<string> =>
  new Set([...zones, ...[...machines.list(), ...macHosts.list()].map(({ spec }) => spec.zone)]);

/**
 * Enqueues each zone once, when it is first seen; from then on it requeues itself (`scheduledZones`). Changes of machines do not trigger a
 * list: a claim must not cost one. A deleted MacHost does, since its server may still exist. First clears what another leader, or this
 * process in an earlier term, has seen.
 */
const zoneSource =
  (zoned: ZoneDeps & { readonly serverCache: ServerCache }, scheduledZones: Set<string>): Source =>
  (enqueue) => {
    zoned.serverCache.clear();
    scheduledZones.clear();
    const schedule = (zone: string): void => {
      if (scheduledZones.has(zone)) return;
      scheduledZones.add(zone);
      enqueue(zone);
    };
    for (const zone of zoned.zones) schedule(zone);
    const ends = [
      zoned.machines.subscribe((change) => {
        if (change.type !== 'removed') schedule(change.object.spec.zone);
      }),
      zoned.macHosts.subscribe((change) => {
        if (change.type === 'removed') enqueue(change.previous.spec.zone);
        else schedule(change.object.spec.zone);
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  };

/**
 * Creates MacHosts. An existing one stays: its creator knew as much. An error does not keep the others from being created; the first error
 * is thrown at the end.
 */
const createMacHosts = async (
  client: Pick<Client, 'create'>,
  log: Logger,
  decision: Decision,
  signal: AbortSignal,
): Promise<void> => {
  const failures: unknown[] = [];
  for (const { id, spec } of decision) {
    try {
      await client.create(macHost.resource, macHost.make({ metadata: { name: id }, spec }), { signal });
      log.info('Found a Mac', {
        server: id,
        zone: spec.zone,
        heldBy: spec.consumerRef?.name,
        release: spec.release?.reason,
      });
    } catch (error) {
      if (!isKubeError(error, 'alreadyExists')) failures.push(error);
    }
    signal.throwIfAborted();
  }
  if (failures.length > 0) throw failures[0];
};
