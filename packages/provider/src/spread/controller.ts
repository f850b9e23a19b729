import {
  again,
  type Client,
  type Controller,
  type ControllerOptions,
  createController,
  keyOf,
  nameOf,
  type ObjectName,
  type Reconcile,
  settled,
  type Source,
  type WatchCache,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { type Roller, roll } from './act.ts';
import { decide } from './decide.ts';
import { createFlips, type Flips } from './flips.ts';
import type { Node } from './membership.ts';
import { observe } from './observe.ts';

export interface FleetSpreadOptions extends Omit<Roller, 'client'> {
  /** By its namespace and name. Undefined, or without a name: nobody wants this. */
  deployment: Required<ObjectName> | undefined;
  client: Pick<Client, 'get' | 'patch'>;
  /** All Nodes, or at least those of Macs. */
  nodes: WatchCache<Node>;
  clock: Clock;
  metrics?: ControllerOptions['metrics'];
  /** How long the set of Ready Macs must have stayed the same. 60 s unless told. */
  settleMs?: number;
  /** How often a Deployment that cannot be rolled yet is looked at. 30 s unless told. */
  lookAgainMs?: number;
}

/**
 * Rolls one Deployment when the set of Ready Macs that its Pods may run on has changed. Undefined when no
 * Deployment is named.
 * Needs: get and patch of that one Deployment; get, list, watch of nodes; create, patch of events.
 * Caveats: while a Node joins and leaves more often than `settleMs`, nothing is rolled. Of what keeps a Pod off a Node
 * only `nodeSelector` is looked at, as in the original: no affinity, no cordon.
 */
export const createFleetSpread = (options: FleetSpreadOptions): Controller | undefined => {
  const { deployment, client, nodes, clock, log, metrics, settleMs = 60_000, lookAgainMs = 30_000 } = options;
  if (!deployment?.name) return undefined;
  const flips = createFlips(clock, settleMs);

  const reconcile: Reconcile = async (key, signal) => {
    const seen = await observe({ client, nodes, flips, settleMs, lookAgainMs }, nameOf(key), signal);
    const decision = decide(seen.snapshot);
    log.debug('Looked at the spread of a Deployment', { key, decision });
    switch (decision.kind) {
      case 'leave':
        return settled;
      case 'wait':
        return again(decision.forMs);
      case 'roll': {
        const { hash } = decision;
        return seen.deployment ? roll(options, seen.deployment, { hash, ready: seen.snapshot.ready }, signal) : settled;
      }
    }
  };

  return createController({
    name: 'fleet-spread',
    reconcile,
    sources: [fleetChanges(keyOf(deployment), nodes, flips)],
    clock,
    log,
    ...(metrics && { metrics }),
  });
};

/** Once at the start, as the fleet may have changed while nobody looked, and then whenever a Mac joins or leaves. */
const fleetChanges =
  (key: string, nodes: WatchCache<Node>, flips: Flips): Source =>
  (enqueue) => {
    flips.forgetAll();
    enqueue(key);
    return nodes.subscribe((change) => {
      if (flips.follow(change)) enqueue(key);
    });
  };
