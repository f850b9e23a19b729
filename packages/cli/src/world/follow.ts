import { macFleet, macHost, machine } from '@tartan/api';
import {
  createWatchCache,
  type KubeObject,
  type Logger,
  nodes,
  pods,
  type Resource,
  type WatchCache,
} from '@tartan/kube';
import type { Connection } from '../cluster/cluster.ts';
import type { Selection, World } from './observe.ts';

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => silent };

/** Changes come in bursts: a Mac that joins writes its machine, its host and its Node within a moment. */
const burstMs = 250;

/** What happens to a world that is followed. */
export interface Follower {
  /** Once all has been read, and after each change. */
  show(world: World): void;
  /** Also without a change, since times pass. Undefined: never. */
  readonly everyMs: number | undefined;
}

/**
 * Keeps telling what is there until the signal fires. What could not be read in `first` is not followed. A server that goes away is
 * waited for, and a note says so meanwhile.
 */
export const followWorld = async (
  { client, clock }: Pick<Connection, 'client' | 'clock'>,
  { namespace }: Selection,
  first: World,
  { show, everyMs }: Follower,
  signal: AbortSignal,
): Promise<void> => {
  const cacheOf = <T extends KubeObject>(resource: Resource<T>, scope: Selection = {}): WatchCache<T> =>
    createWatchCache({ client, resource, clock, random: Math.random, log: silent, ...scope });
  const scope = namespace === undefined ? {} : { namespace };
  const caches = {
    machines: cacheOf(machine.resource, scope),
    hosts: cacheOf(macHost.resource),
    fleets: cacheOf(macFleet.resource, scope),
    nodes: cacheOf(nodes),
    pods: cacheOf(pods),
  };
  const followed = [
    caches.machines,
    caches.hosts,
    ...(first.unread.has('fleets') ? [] : [caches.fleets]),
    ...(first.unread.has('nodes') ? [] : [caches.nodes]),
    ...(first.pods === undefined ? [] : [caches.pods]),
  ];
  let due: (() => void) | undefined;
  let soon = false;
  const tell = (): void => {
    due?.();
    due = everyMs === undefined ? undefined : clock.after(everyMs, tell);
    soon = false;
    if (signal.aborted || followed.some(({ hasSynced }) => !hasSynced)) return;
    const behind = followed.find(({ lastError }) => lastError !== undefined)?.lastError;
    show({
      now: clock.now(),
      machines: caches.machines.list(),
      hosts: caches.hosts.list(),
      fleets: caches.fleets.list(),
      nodes: caches.nodes.list(),
      pods: first.pods && caches.pods.list(),
      unread: first.unread,
      notes: behind ? [...first.notes, `This may be old: ${behind.message}`] : first.notes,
    });
  };
  const changed = (): void => {
    if (soon) return;
    soon = true;
    due?.();
    due = clock.after(burstMs, tell);
  };
  const ends = followed.map((cache) => cache.subscribe(changed));
  // An empty cluster has no change that would show it.
  for (const { synced } of followed) void synced.then(changed);
  await Promise.all(followed.map((cache) => cache.run(signal)));
  due?.();
  for (const end of ends) end();
};
