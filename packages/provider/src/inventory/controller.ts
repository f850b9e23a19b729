import { machine, type MacHost, type ScalewayAppleSiliconMachine } from '@tartan/api';
import {
  again,
  type Client,
  type Controller,
  type ControllerOptions,
  createController,
  createWorkQueue,
  type Logger,
  type Reconcile,
  settled,
  type WatchCache,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { type HostPool, ScalewayError } from '@tartan/scaleway';
import { create } from './act.ts';
import { decide } from './decide.ts';
import { missingOf, observe } from './observe.ts';
import type { Sightings } from './sightings.ts';
import { zonesInUse, zonesOf } from './zones.ts';

export interface InventoryOptions {
  readonly client: Pick<Client, 'list' | 'create'>;
  readonly pool: Pick<HostPool, 'listServers'>;
  readonly sightings: Sightings;
  readonly machines: Pick<WatchCache<ScalewayAppleSiliconMachine>, 'list' | 'subscribe'>;
  readonly macHosts: Pick<WatchCache<MacHost>, 'get' | 'list' | 'subscribe'>;
  /** Listed always: they keep a zone covered after its last machine is gone. */
  readonly zones: readonly string[];
  readonly defaultPoolPrefix: string | undefined;
  readonly allowedPoolPrefixes: readonly string[];
  /** Called once for each list that failed. */
  readonly listFailed: (zone: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: ControllerOptions['metrics'];
  /** 60 s unless told. */
  readonly intervalMs?: number;
}

/** Scaleway has already been asked several times when a list fails. */
const backoff = { baseMs: 5000, maxMs: 5 * 60_000 };

/**
 * Lists the zones, and gives every server there a MacHost: from names alone, should all of them be lost.
 * Needs: get, list, watch of scalewayapplesiliconmachines; get, list, watch, create of machosts.
 */
export const createInventory = (options: InventoryOptions): Controller => {
  const { client, pool, sightings, macHosts, clock, log, metrics, intervalMs = 60_000 } = options;
  const rotation = new Set<string>();

  const reconcile: Reconcile = async (zone, signal) => {
    if (!zonesInUse(options).has(zone)) {
      rotation.delete(zone);
      return settled;
    }
    const at = clock.now();
    try {
      const servers = await pool.listServers(zone, { signal });
      sightings.listed(zone, servers, at);
      const missing = missingOf(servers, macHosts);
      if (missing.length > 0) {
        const { items } = await client.list(machine.resource, { signal });
        const world = { ...options, machines: items, now: clock.now() };
        await create(client, log, decide(observe(zone, missing, world)), signal);
      }
      return again(intervalMs);
    } catch (error) {
      if (!(error instanceof ScalewayError)) throw error;
      sightings.failed(zone, error.message, at);
      options.listFailed(zone);
      return { kind: 'failed', error };
    }
  };

  return createController({
    name: 'inventory',
    reconcile,
    sources: [zonesOf(options, rotation)],
    clock,
    log,
    queue: (observer) => createWorkQueue({ clock, backoff, ...(observer && { observer }) }),
    ...(metrics && { metrics }),
  });
};
