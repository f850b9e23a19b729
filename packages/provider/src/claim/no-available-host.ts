import { type Obstacle, obstacleTo } from './obstacle.ts';
import type { Supply, Wanted } from './wanted.ts';

type Host = Supply['hosts'][number];

/** More kinds of Macs than that are summed up: a condition is for reading. */
const mostGroups = 12;

/**
 * What was looked for, and what there is instead: counts by type, macOS and state. Holds no time and no name, so that it stays the same
 * while the pool does.
 */
export const noAvailableHost = (wanted: Wanted, { hosts, reservedByOthers, now }: Supply): string => {
  const sought = `No ${wanted.type} with ${wanted.os} is free in ${wanted.zone} whose name begins with ${wanted.poolPrefix || '(no prefix)'}.`;
  if (hosts.length === 0) {
    return `${sought} There is no Mac at all, or none has been listed yet: order one, and give it a name that begins so.`;
  }
  const groups = new Map<string, number>();
  for (const host of hosts) {
    const isReserved = reservedByOthers.has(host.metadata.name);
    const label = `${kindOf(host)} ${situationOf(wanted, host, obstacleTo(wanted, host, now), isReserved)}`;
    groups.set(label, (groups.get(label) ?? 0) + 1);
  }
  // The most frequent first; equal ones by their text, so that the order of a cache does not show.
  const sorted = [...groups].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  const shown = sorted.slice(0, mostGroups).map(([label, count]) => `${count} ${label}`);
  const rest = sorted.slice(mostGroups).reduce((sum, [, count]) => sum + count, 0);
  const listed = [...shown, ...(rest > 0 ? [`${rest} of other kinds`] : [])].join(', ');
  return `${sought} Instead there are: ${listed}. Order one, free one, or change what is asked for; it is tried again by itself.`;
};

const kindOf = ({ status }: Host): string =>
  `${status?.type ?? 'unknown type'} with ${status?.osFamily ?? 'unknown OS'}`;

const situationOf = (wanted: Wanted, host: Host, obstacle: Obstacle | undefined, isReserved: boolean): string => {
  const { spec, status } = host;
  switch (obstacle) {
    case 'going':
      return 'that Scaleway no longer has';
    case 'held':
    case 'abandoned':
    case 'releasing':
    case 'quarantined':
      return obstacle;
    case 'not ready':
      return `in the pool but ${status?.serverStatus ?? 'in an unknown state'}`;
    case 'not in the pool':
      return status?.state === 'pool' ? 'in another pool' : stateOf(host);
    case 'other zone':
    case 'other type':
    case 'other os':
    case undefined: {
      const where = spec.zone === wanted.zone ? '' : ` in ${spec.zone}`;
      return `${isReserved ? 'reserved by another machine' : stateOf(host)}${where}`;
    }
  }
};

const stateOf = ({ status }: Host): string =>
  status?.state === 'pool' ? 'free' : (status?.state ?? 'not looked at yet');
