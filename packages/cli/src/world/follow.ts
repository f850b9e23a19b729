import { macFleet, macHost, machine } from '@tartan/api';
import { nodes, pods } from '@tartan/kube';
import type { Connection } from '../cluster/cluster.ts';
import { followCaches, quietCache } from './follow-caches.ts';
import type { Selection, World } from './observe.ts';
import type { Follower } from './sight.ts';

/**
 * Keeps telling what is there until the signal fires. What could not be read in `first` is not followed. A server that goes away is
 * waited for, and a note says so meanwhile.
 */
export const followWorld = async (
  connection: Pick<Connection, 'client' | 'clock'>,
  { namespace }: Selection,
  first: World,
  { show, everyMs }: Follower<World>,
  signal: AbortSignal,
): Promise<void> => {
  const { clock } = connection;
  const scope = namespace === undefined ? {} : { namespace };
  const caches = {
    machines: quietCache(connection, { resource: machine.resource, ...scope }),
    hosts: quietCache(connection, { resource: macHost.resource }),
    fleets: quietCache(connection, { resource: macFleet.resource, ...scope }),
    nodes: quietCache(connection, { resource: nodes }),
    pods: quietCache(connection, { resource: pods }),
  };
  const followed = [
    caches.machines,
    caches.hosts,
    ...(first.unread.has('fleets') ? [] : [caches.fleets]),
    ...(first.unread.has('nodes') ? [] : [caches.nodes]),
    ...(first.pods === undefined ? [] : [caches.pods]),
  ];
  const tell = (behind: Error | undefined): void =>
    show({
      now: clock.now(),
      machines: caches.machines.list(),
      hosts: caches.hosts.list(),
      fleets: caches.fleets.list(),
      nodes: caches.nodes.list(),
      pods: first.pods && caches.pods.list(),
      unread: first.unread,
      notes: behind ? [...first.notes, mayBeOld(behind)] : first.notes,
    });
  await followCaches(clock, followed, { tell, everyMs }, signal);
};

/** A note for people. */
export const mayBeOld = ({ message }: Error): string => `This may be old: ${message}`;
