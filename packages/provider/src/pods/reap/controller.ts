import {
  again,
  type Controller,
  type ControllerOptions,
  createController,
  fromCache,
  itsOwnKey,
  type Reconcile,
  settled,
  type WatchCache,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Node } from '../observe.ts';
import { type Reaper, reap } from './act.ts';
import { decide } from './decide.ts';
import { isCordoned, isMac, observe, type Observer } from './observe.ts';

export interface PodReaperOptions extends Omit<Observer, 'client' | 'nodes'>, Omit<Reaper, 'client'> {
  client: Observer['client'] & Reaper['client'];
  nodes: Pick<WatchCache<Node>, 'get' | 'subscribe'>;
  clock: Clock;
  metrics?: ControllerOptions['metrics'];
  /** 10 s unless told: core looks every 20 s whether its drain is over. */
  lookAgainMs?: number;
}

/**
 * Deletes Pods that have ended on a Mac whose Machine is being deleted, as core's drain would wait for them for ever. Keys are names of
 * Nodes: core cordons before it drains, which is heard of; the rest is looked for while a Mac is cordoned.
 * Needs: get of machines of cluster.x-k8s.io; list, watch of nodes and scalewayapplesiliconmachines; list, watch, delete of pods; create,
 * patch of events.
 */
export const createPodReaper = (options: PodReaperOptions): Controller => {
  const { nodes, clock, log, metrics, lookAgainMs = 10_000 } = options;

  const reconcile: Reconcile = async (name, signal) => {
    const { snapshot, pods } = await observe(options, name, signal);
    const decision = decide(snapshot);
    switch (decision.kind) {
      case 'leave':
        return settled;
      case 'wait':
        return again(lookAgainMs);
      case 'reap':
        await reap(
          options,
          pods.filter(({ metadata }) => decision.uids.includes(metadata.uid)),
          signal,
        );
        return again(lookAgainMs);
    }
  };

  return createController({
    name: 'pod-reaper',
    reconcile,
    sources: [fromCache(nodes, itsOwnKey, becameCordoned)],
    clock,
    log,
    ...(metrics && { metrics }),
  });
};

/** Nodes say much, and often. What is cordoned already is looked at by the clock. */
const becameCordoned: Parameters<typeof fromCache<Node>>[2] = (change) => {
  if (change.type === 'removed' || !isMac(change.object) || !isCordoned(change.object)) return false;
  return change.type !== 'changed' || !isCordoned(change.previous) || !isMac(change.previous);
};
