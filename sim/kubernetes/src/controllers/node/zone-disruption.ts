import type { Clock } from '@tartan/kube/clock';
import { conditionOf, type Node } from '../runtime/objects.ts';

/** normal: most Nodes are ready. partial: more than two, and at least 55 %, are not. full: none is ready. */
type ZoneState = 'normal' | 'partial' | 'full';

const unhealthyShare = 0.55;
const largeZone = 50;
/** Nodes per second that may be tainted NoExecute. */
const usualRate = 0.1;
const largeZoneRate = 0.01;

export const zoneOf = (node: Node): string => {
  const labels = node.metadata.labels ?? {};
  const zone = labels['failure-domain.beta.kubernetes.io/zone'] ?? labels['topology.kubernetes.io/zone'] ?? '';
  const region = labels['failure-domain.beta.kubernetes.io/region'] ?? labels['topology.kubernetes.io/region'] ?? '';
  return region === '' && zone === '' ? '' : `${region}:\0:${zone}`;
};

export const isReady = (node: Node): boolean => conditionOf(node, 'Ready')?.status === 'True';

const isCounted = (node: Node): boolean =>
  node.metadata.labels?.['node.kubernetes.io/exclude-disruption'] === undefined;

const stateOf = (ready: number, unready: number): ZoneState => {
  if (ready === 0 && unready > 0) return 'full';
  return unready > 2 && unready / (unready + ready) >= unhealthyShare ? 'partial' : 'normal';
};

const rateOf = (state: ZoneState, size: number): number => {
  if (state !== 'partial') return usualRate;
  return size > largeZone ? largeZoneRate : 0;
};

interface Disruption {
  /** No Node is ready in any zone. More likely the control plane is cut off, so nothing is evicted. */
  allZonesDown: boolean;
  /** Nodes per second, by zone, that may be tainted NoExecute. */
  rates: Map<string, number>;
}

/** Limits evictions when many Nodes stop reporting at the same time. */
export const disruption = (nodes: readonly Node[]): Disruption => {
  const zones = [...Map.groupBy(nodes, zoneOf)].map(([zone, members]) => {
    const counted = members.filter(isCounted);
    const ready = counted.filter(isReady).length;
    return { zone, size: counted.length, state: stateOf(ready, counted.length - ready) };
  });
  const known = zones.filter(({ size }) => size > 0);
  const allZonesDown = known.length > 0 && known.every(({ state }) => state === 'full');
  return {
    allZonesDown,
    rates: new Map(zones.map(({ zone, size, state }) => [zone, allZonesDown ? 0 : rateOf(state, size)])),
  };
};

export interface RateLimiter {
  setRate(perSecond: number): void;
  /** Whether one Node may be tainted now. */
  take(): boolean;
}

/** A token bucket of size one. If it is empty when the rate changes, the wait starts anew. */
export const evictionRateLimiter = (clock: Clock): RateLimiter => {
  const now = (): number => clock.now();
  let rate = 0;
  let nextAt = Number.NEGATIVE_INFINITY;
  let started = false;
  return {
    setRate: (perSecond) => {
      if (perSecond === rate) return;
      const held = started && (rate === 0 || nextAt > now());
      rate = perSecond;
      started = true;
      nextAt = held && rate > 0 ? now() + 1000 / rate : now();
    },
    take: () => {
      if (rate === 0 || now() < nextAt) return false;
      nextAt = now() + 1000 / rate;
      return true;
    },
  };
};
