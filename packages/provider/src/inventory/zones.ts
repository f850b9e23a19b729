import type { MacHost, ScalewayAppleSiliconMachine } from '@tartan/api';
import type { Source, WatchCache } from '@tartan/kube';
import type { Sightings } from './sightings.ts';

interface Zoned {
  readonly zones: readonly string[];
  readonly machines: Pick<WatchCache<ScalewayAppleSiliconMachine>, 'list' | 'subscribe'>;
  readonly macHosts: Pick<WatchCache<MacHost>, 'list' | 'subscribe'>;
}

export const zonesInUse = ({ zones, machines, macHosts }: Zoned): ReadonlySet<string> =>
  new Set([...zones, ...[...machines.list(), ...macHosts.list()].map(({ spec }) => spec.zone)]);

/**
 * Each zone once, when it is first heard of: from then on it comes again by itself. A machine that comes, goes or changes is no reason
 * to list: a claim must not cost a list. `rotation` holds the zones that come again. A MacHost that was deleted is one, since its server may still be there. What another leader
 * saw, or this process in an earlier term, is forgotten first.
 */
export const zonesOf =
  (zoned: Zoned & { readonly sightings: Sightings }, rotation: Set<string>): Source =>
  (enqueue) => {
    zoned.sightings.forgetAll();
    rotation.clear();
    const hear = (zone: string): void => {
      if (rotation.has(zone)) return;
      rotation.add(zone);
      enqueue(zone);
    };
    for (const zone of zoned.zones) hear(zone);
    const ends = [
      zoned.machines.subscribe((change) => {
        if (change.type !== 'removed') hear(change.object.spec.zone);
      }),
      zoned.macHosts.subscribe((change) => {
        if (change.type === 'removed') enqueue(change.previous.spec.zone);
        else hear(change.object.spec.zone);
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  };
