import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@tartan/kube/clock';
import type { Server } from '@tartan/scaleway';
import type { Sighting, Sightings } from './sightings.ts';

export interface SightingsOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** How old a sighting may be and still be believed. 5 min unless told: a few lists may fail. */
  readonly trustMs?: number;
}

/** `at` is when the question was asked: the answer may be newer than that, never older. */
type Seen = { readonly at: number; readonly server: Server | undefined };

interface Zone {
  listedAt: number | undefined;
  failure: string | undefined;
  /** Listeners know that nothing of it is believed any more. */
  toldOld: boolean;
  readonly seen: Map<string, Seen>;
}

/** Two secrets are never equal, and what a password is makes no difference here. */
const same = (a: Server | undefined, b: Server | undefined): boolean =>
  isDeepStrictEqual(a && { ...a, password: !!a.password }, b && { ...b, password: !!b.password });

const usualTrustMs = 5 * 60_000;

/** A map, told of changes. A look at one server that was begun after a list outlives that list, however late the list arrives. */
export const createSightings = ({ clock, trustMs = usualTrustMs }: SightingsOptions): Sightings => {
  const zones = new Map<string, Zone>();
  const listeners = new Set<(id: string) => void>();
  const tell = (ids: Iterable<string>): void => {
    for (const id of new Set(ids)) for (const listener of listeners) listener(id);
  };
  const zoneOf = (name: string): Zone => {
    const zone = zones.get(name) ?? { listedAt: undefined, failure: undefined, toldOld: false, seen: new Map() };
    zones.set(name, zone);
    return zone;
  };
  const isOld = (at: number): boolean => !(clock.now() - at <= trustMs);

  const of = (zoneName: string, id: string): Sighting => {
    const zone = zones.get(zoneName);
    const seen = zone?.seen.get(id);
    const at = seen?.at ?? zone?.listedAt;
    if (at === undefined || isOld(at)) return { kind: 'unknown', why: zone?.failure ?? '' };
    return seen?.server ? { kind: 'seen', server: seen.server, at } : { kind: 'missing', at };
  };

  return {
    of,
    listed: (zoneName, servers, at) => {
      const zone = zoneOf(zoneName);
      const wasOld = zone.listedAt === undefined || isOld(zone.listedAt);
      const before = new Map(zone.seen);
      zone.seen.clear();
      for (const server of servers) zone.seen.set(server.id, { at, server });
      for (const [id, seen] of before) if (seen.at > at) zone.seen.set(id, seen);
      Object.assign(zone, { listedAt: at, failure: undefined, toldOld: false });
      const ids = [...before.keys(), ...zone.seen.keys()];
      tell(ids.filter((id) => wasOld || !same(before.get(id)?.server, zone.seen.get(id)?.server)));
    },
    failed: (zoneName, why) => {
      const zone = zoneOf(zoneName);
      zone.failure = why;
      if (zone.toldOld || zone.listedAt === undefined || !isOld(zone.listedAt)) return;
      zone.toldOld = true;
      tell(zone.seen.keys());
    },
    looked: (zoneName, id, server, at) => {
      const { seen } = zoneOf(zoneName);
      const before = seen.get(id);
      if (before && before.at > at) return;
      seen.set(id, { at, server });
      if (before === undefined || !same(before.server, server)) tell([id]);
    },
    forgetAll: () => zones.clear(),
    subscribe: (listener) => {
      // Two subscriptions of one function are two.
      const own = (id: string): void => listener(id);
      listeners.add(own);
      return () => listeners.delete(own);
    },
  };
};
