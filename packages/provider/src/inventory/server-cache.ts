import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@tartan/kube/clock';
import type { Server } from '@tartan/scaleway';

/** What the last list of a zone says of one server. */
export type ServerObservation =
  | { readonly kind: 'seen'; readonly server: Server; readonly at: number }
  /** Its zone was listed, without it. Whoever acts on this asks Scaleway for the server itself first. */
  | { readonly kind: 'missing'; readonly at: number }
  /** Its zone was not listed since this process leads, or not lately. `why` is for people; empty while the first list is awaited. */
  | { readonly kind: 'unknown'; readonly why: string };

/** `at` is when the question was asked: the answer may be newer than that, never older. */
type Entry = { readonly at: number; readonly server: Server | undefined };

interface ZoneEntries {
  listedAt: number | undefined;
  failure: string | undefined;
  /** Listeners know that nothing of it is believed any more. */
  staleNotified: boolean;
  readonly seen: Map<string, Entry>;
}

/** Two secrets are never equal, and what a password is makes no difference here. */
const isSameServer = (a: Server | undefined, b: Server | undefined): boolean =>
  isDeepStrictEqual(a && { ...a, password: !!a.password }, b && { ...b, password: !!b.password });

/** How old an observation may be and still be believed: a few lists may fail. */
const trustMs = 5 * 60_000;

/**
 * The lists of all zones, as this process has them. Memory only: whoever starts anew knows nothing until the first list. A look at one server
 * that was begun after a list outlives that list, however late the list arrives.
 */
export const createServerCache = ({ clock }: { readonly clock: Pick<Clock, 'now'> }) => {
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
    /** A whole zone was listed: replaces what was known of it. */
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
    /** A zone could not be listed. What was seen before stays, until it is too old to be trusted. */
    zoneFailed: (zoneName: string, why: string): void => {
      const zone = zoneOf(zoneName);
      zone.failure = why;
      if (zone.staleNotified || zone.listedAt === undefined || !isStale(zone.listedAt)) return;
      zone.staleNotified = true;
      notify(zone.seen.keys());
    },
    /** One server was asked for and this is what it is now; `undefined`: Scaleway does not know it. */
    setServer: (zoneName: string, id: string, server: Server | undefined, at: number): void => {
      const { seen } = zoneOf(zoneName);
      const before = seen.get(id);
      if (before && before.at > at) return;
      seen.set(id, { at, server });
      if (before === undefined || !isSameServer(before.server, server)) notify([id]);
    },
    clear: (): void => zones.clear(),
    /** Calls `listener` with the id of each server of which something is different now, those that have gone among them. */
    subscribe: (listener: (id: string) => void): (() => void) => {
      // Two subscriptions of one function are two.
      const own = (id: string): void => listener(id);
      listeners.add(own);
      return () => listeners.delete(own);
    },
  };
};

export type ServerCache = ReturnType<typeof createServerCache>;
