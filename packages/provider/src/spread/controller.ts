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
import type { ControllerDeps, Informers, Listers } from '../controller-deps.ts';
import { selected } from '../indexes.ts';
import { decide, type Snapshot } from './decide.ts';
import { createReadyMacTracker, matchesLabels, readyMacLabels, type ReadyMacTracker } from './ready-macs.ts';

interface FleetSpreadOptions extends ControllerDeps, Pick<Informers, 'nodes'>, Pick<ActDeps, 'events'> {
  /** Namespace and name. Undefined, or without a name: the feature is off. */
  deployment: Required<ObjectName> | undefined;
  /** How long the set of Ready Macs must be stable. Default: 60 s. */
  settleMs?: number;
  /** How often a Deployment that cannot be rolled yet is checked. Default: 30 s. */
  lookAgainMs?: number;
}

/**
 * Rolls one Deployment when the set of Ready Macs that its Pods may run on has changed. Undefined when no Deployment is named.
 * Needs: get and patch of that one Deployment; get, list, watch of nodes; create, patch of events.
 * Caveats: while a Node joins and leaves more often than `settleMs`, nothing is rolled. As in the original, only `nodeSelector` is
 * considered: no affinity, no cordon.
 */
export const createFleetSpread = (options: FleetSpreadOptions): Controller | undefined => {
  const { deployment, client, nodes, clock, log, settleMs = 60_000, lookAgainMs = 30_000 } = options;
  if (!deployment?.name) return undefined;
  const readyMacs = createReadyMacTracker(clock, settleMs);

  const reconcile: Reconciler = async (key, signal) => {
    const seen = await observe({ client, nodes, readyMacs, settleMs, lookAgainMs }, nameOf(key), signal);
    const decision = decide(seen.snapshot);
    log.debug('Looked at the spread of a Deployment', { key, decision });
    switch (decision.kind) {
      case 'skip':
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
    ...options,
    name: 'fleet-spread',
    reconcile: requeueOnConflict(reconcile),
    sources: [readyMacSource(keyOf(deployment), nodes, readyMacs)],
  });
};

/** Once at the start, as the fleet may have changed meanwhile, and then whenever a Mac joins or leaves. */
const readyMacSource =
  (key: string, nodes: Informers['nodes'], readyMacs: ReadyMacTracker): Source =>
  (enqueue) => {
    readyMacs.clear();
    enqueue(key);
    return nodes.subscribe((change) => {
      if (readyMacs.record(change)) enqueue(key);
    });
  };

interface ActDeps {
  client: Pick<Client, 'patch'>;
  events: Pick<EventRecorder, 'event'>;
  log: Logger;
}

/**
 * Annotates the Pod template with the hash of the set of Macs, which makes Kubernetes roll the Deployment.
 * Guarantees: only that annotation changes. UID and resource version limit the patch to the version that was found settled: a deploy that
 * begins meanwhile is not rolled over. Idempotent after a crash.
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

type Deployment = NonNullable<(typeof deployments)['ofType']>;

interface ObserveDeps extends Pick<Listers, 'nodes'> {
  /** Reads by name and never lists: the rights may cover one Deployment only. */
  client: Pick<Client, 'get'>;
  readyMacs: ReadyMacTracker;
  settleMs: number;
  lookAgainMs: number;
}

interface Observation {
  deployment: Live<Deployment> | undefined;
  snapshot: Snapshot;
}

/** The Deployment first: its Pods' nodeSelector decides which Macs matter, so that other fleets change nothing. */
const observe = async (
  { client, nodes, readyMacs, settleMs, lookAgainMs }: ObserveDeps,
  name: ObjectName,
  signal: AbortSignal,
): Promise<Observation> => {
  const deployment = await ignoreNotFound(client.get(deployments, name, { signal }));
  const selector = deployment?.spec?.template.spec?.nodeSelector ?? {};
  const ready = nodes.byIndex('readyMac', selected).filter((node) => {
    const labels = readyMacLabels(node);
    return labels !== undefined && matchesLabels(labels, selector);
  });
  return {
    deployment,
    snapshot: {
      deployment: deployment && deploymentFacts(deployment),
      ready: ready.map(({ metadata }) => metadata.name).sort(),
      stableForMs: readyMacs.stableForMs(selector),
      settleMs,
      lookAgainMs,
    },
  };
};

/** The server omits zeros, and defaults `replicas` to one. */
export const deploymentFacts = ({ metadata, spec, status }: Live<Deployment>) => ({
  deleting: metadata.deletionTimestamp !== undefined,
  paused: spec?.paused ?? false,
  /** The hash that it was last rolled for. */
  hash: spec?.template.metadata?.annotations?.[annotations.fleetHash],
  /** Its controller has observed this generation. */
  observed: (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0),
  desired: spec?.replicas ?? 1,
  replicas: status?.replicas ?? 0,
  updated: status?.updatedReplicas ?? 0,
  available: status?.availableReplicas ?? 0,
  unavailable: status?.unavailableReplicas ?? 0,
});
