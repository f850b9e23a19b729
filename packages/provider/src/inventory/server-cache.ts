import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@tartan/kube/clock';
import type { Server } from '@tartan/scaleway';

/** What is known of one server from the last list of its zone. */
export type ServerObservation =
  | { readonly kind: 'seen'; readonly server: Server; readonly at: number }
  /** Its zone was listed, without it. Before acting on this, ask Scaleway for the server itself. */
  | { readonly kind: 'missing'; readonly at: number }
  /** Its zone was not listed lately, or not since this process leads. `why` is for users; empty before the first list. */
  | { readonly kind: 'unknown'; readonly why: string };

/** `at` is the time of the request: the response may be newer, never older. */
type Entry = { readonly at: number; readonly server: Server | undefined };

interface ZoneEntries {
  listedAt: number | undefined;
  failure: string | undefined;
  /** Listeners were notified that the entries are stale. */
  staleNotified: boolean;
  readonly seen: Map<string, Entry>;
}

/** Secrets are never equal, and the value of a password does not matter here. */
const isSameServer = (a: Server | undefined, b: Server | undefined): boolean =>
  isDeepStrictEqual(a && { ...a, password: !!a.password }, b && { ...b, password: !!b.password });

/** The maximum age of an observation: a few lists may fail. At least five minutes, as long as five lists with the default interval. */
const minTrustMs = 5 * 60_000;
const trustedIntervals = 3;

/**
 * The lists of all zones, in memory only: empty until the first list after a start. A single read of a server that began after a list
 * overrides that list, however late the list arrives.
 */
export const createServerCache = ({
  clock,
  intervalMs = 0,
}: {
  readonly clock: Pick<Clock, 'now'>;
  /** Between two lists of a zone. */
  readonly intervalMs?: number;
}) => {
  const trustMs = Math.max(minTrustMs, trustedIntervals * intervalMs);
  const zones = new Map<string, ZoneEntries>();
  const listeners = new Set<(id: string) => void>();
  const notify = (ids: Iterable<string>): void => {
    for (const id of new Set(ids)) for (const listener of listeners) listener(id);
  };
  const zoneOf = (name: string): ZoneEntries => {
    const zone = zones.get(name) ?? { listedAt: undefined, failure: undefined, staleNotified: false, seen: new Map() };
    zones.set(name, zone);
    return zone;
  };
  const isStale = (at: number): boolean => !(clock.now() - at <= trustMs);

  const get = (zoneName: string, id: string): ServerObservation => {
    const zone = zones.get(zoneName);
    const seen = zone?.seen.get(id);
    const at = seen?.at ?? zone?.listedAt;
    if (at === undefined || isStale(at)) return { kind: 'unknown', why: zone?.failure ?? '' };
    return seen?.server ? { kind: 'seen', server: seen.server, at } : { kind: 'missing', at };
  };

  return {
    get,
    /** Replaces the zone with a complete list. */
    replaceZone: (zoneName: string, servers: readonly Server[], at: number): void => {
      const zone = zoneOf(zoneName);
      const wasOld = zone.listedAt === undefined || isStale(zone.listedAt);
      const before = new Map(zone.seen);
      zone.seen.clear();
      for (const server of servers) zone.seen.set(server.id, { at, server });
      for (const [id, seen] of before) if (seen.at > at) zone.seen.set(id, seen);
      zone.listedAt = at;
      zone.failure = undefined;
      zone.staleNotified = false;
      const ids = [...before.keys(), ...zone.seen.keys()];
      notify(ids.filter((id) => wasOld || !isSameServer(before.get(id)?.server, zone.seen.get(id)?.server)));
    },
    /** A list failed. Earlier observations stay until they are stale. */
    zoneFailed: (zoneName: string, why: string): void => {
      const zone = zoneOf(zoneName);
      zone.failure = why;
      if (zone.staleNotified || zone.listedAt === undefined || !isStale(zone.listedAt)) return;
      zone.staleNotified = true;
      notify(zone.seen.keys());
    },
    /** The result of reading one server; `undefined`: Scaleway does not know it. */
    setServer: (zoneName: string, id: string, server: Server | undefined, at: number): void => {
      const { seen } = zoneOf(zoneName);
      const before = seen.get(id);
      if (before && before.at > at) return;
      seen.set(id, { at, server });
      if (before === undefined || !isSameServer(before.server, server)) notify([id]);
    },
    clear: (): void => zones.clear(),
    /** Calls `listener` with the id of each server that has changed or is gone. */
    subscribe: (listener: (id: string) => void): (() => void) => {
      // Two subscriptions of one function are separate.
      const own = (id: string): void => listener(id);
      listeners.add(own);
      return () => listeners.delete(own);
    },
  };
};

export type ServerCache = ReturnType<typeof createServerCache>;
