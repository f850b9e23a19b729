import { annotations, buildEvent } from '@tartan/api';
import {
  type Client,
  type Controller,
  createController,
  deployments,
  done,
  type EventInput,
  type EventRecorder,
  ignoreNotFound,
  keyOf,
  type Live,
  type Logger,
  nameOf,
  type ObjectName,
  patchIfUnchanged,
  type Reconciler,
  type ReconcileResult,
  requeueAfter,
  requeueOnConflict,
  type Source,
} from '@tartan/kube';
import type { ControllerDeps, Informers } from '../controller-deps.ts';
import { decide } from './decide.ts';
import { type Deployment, observe } from './observe.ts';
import { createReadyMacTracker, type ReadyMacTracker } from './ready-macs.ts';

export interface FleetSpreadOptions extends ControllerDeps, Pick<Informers, 'nodes'>, Pick<ActDeps, 'events'> {
  /** By its namespace and name. Undefined, or without a name: nobody wants this. */
  deployment: Required<ObjectName> | undefined;
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
  const flips = createReadyMacTracker(clock, settleMs);

  const reconcile: Reconciler = async (key, signal) => {
    const seen = await observe({ client, nodes, flips, settleMs, lookAgainMs }, nameOf(key), signal);
    const decision = decide(seen.snapshot);
    log.debug('Looked at the spread of a Deployment', { key, decision });
    switch (decision.kind) {
      case 'leave':
        return done;
      case 'wait':
        return requeueAfter(decision.forMs);
      case 'roll': {
        const { hash } = decision;
        return seen.deployment
          ? rollDeployment(options, seen.deployment, { hash, ready: seen.snapshot.ready }, signal)
          : done;
      }
    }
  };

  return createController({
    name: 'fleet-spread',
    reconcile: requeueOnConflict(reconcile),
    sources: [readyMacSource(keyOf(deployment), nodes, flips)],
    clock,
    log,
    metrics,
  });
};

/** Once at the start, as the fleet may have changed while nobody looked, and then whenever a Mac joins or leaves. */
const readyMacSource =
  (key: string, nodes: Informers['nodes'], flips: ReadyMacTracker): Source =>
  (enqueue) => {
    flips.clear();
    enqueue(key);
    return nodes.subscribe((change) => {
      if (flips.record(change)) enqueue(key);
    });
  };

interface ActDeps {
  client: Pick<Client, 'patch'>;
  events: Pick<EventRecorder, 'event'>;
  log: Logger;
}

/**
 * Stamps the Pod template with the set of Macs, which makes Kubernetes roll the Deployment.
 *
 * Guarantees: nothing but that one annotation changes. UID and resource version keep the patch to the very state that was found
 * settled: a deploy that begins meanwhile is not rolled over. To repeat it after a crash changes nothing.
 */
const rollDeployment = async (
  { client, events, log }: ActDeps,
  deployment: Live<Deployment>,
  { hash, ready }: { hash: string; ready: readonly string[] },
  signal: AbortSignal,
): Promise<ReconcileResult> => {
  const { name, namespace } = deployment.metadata;
  const template = { metadata: { annotations: { [annotations.fleetHash]: hash } } };
  const change = { spec: { template } };
  const written = await ignoreNotFound(patchIfUnchanged(client, deployments, deployment, change, { signal }));
  if (written === undefined) return done;
  log.info('Rolled a Deployment over the Macs that are Ready now', { namespace, name, hash, ready });
  events.event(deployment, fleetSpreadEvent(ready));
  return done;
};

const fleetSpreadEvent = (ready: readonly string[]): EventInput =>
  buildEvent(
    'FleetSpread',
    `The set of Ready Macs has changed, so the Pods are rolled to spread over all of them. Ready now, ${ready.length} in all: ${ready.join(', ')}`,
  );
