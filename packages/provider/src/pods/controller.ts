import { finalizers } from '@tartan/api';
import {
  type Controller,
  createController,
  done,
  hasFinalizer,
  keyOf,
  nameOf,
  type Reconciler,
  requeueAfter,
  type Source,
} from '@tartan/kube';
import type { ControllerDeps, Informers, Pod } from '../controller-deps.ts';
import { type ActDeps, cachedReader, observe, releasePod } from './act.ts';
import { decide, defaultGraceMs } from './decide.ts';
import { createMissingNodeTracker, type MissingNodeTracker } from './missing-nodes.ts';

interface PodReleaseOptions
  extends ControllerDeps,
    Pick<Informers, 'pods' | 'nodes'>,
    Pick<ActDeps, 'events' | 'count'> {
  /** Default: 5 min, by which a Mac that reboots is back. */
  readonly graceMs?: number;
}

/**
 * Removes the agent's finalizer from Pods that are being deleted and whose Mac is gone, so that a dead Mac does not block them for ever.
 * Needs: get, list, watch of nodes; get, list, watch, patch of pods; create, patch of events.
 */
export const createPodRelease = (options: PodReleaseOptions): Controller => {
  const { pods, nodes, clock, graceMs = defaultGraceMs } = options;
  const missingNodes = createMissingNodeTracker(clock);
  const observer = { missingNodes, clock, graceMs };
  const cached = cachedReader({ pods, nodes });

  const reconcile: Reconciler = async (key, signal) => {
    const { snapshot } = await observe(observer, cached, nameOf(key), { signal });
    const decision = decide(snapshot);
    switch (decision.kind) {
      case 'skip':
        return done;
      case 'wait':
        return requeueAfter(decision.forMs);
      case 'release':
        return releasePod({ ...options, observer }, nameOf(key), signal);
    }
  };

  return createController({
    ...options,
    name: 'pod-release',
    reconcile,
    sources: [nodeSource(options, missingNodes), podSource(options, missingNodes)],
  });
};

/** Records every Node that comes back, also between two reconciles of its Pods. Entries from before this run are not trusted. */
const nodeSource =
  ({ pods, nodes }: PodReleaseOptions, missingNodes: MissingNodeTracker): Source =>
  (enqueue) => {
    missingNodes.clear();
    return nodes.subscribe((change) => {
      if (change.type !== 'removed') return missingNodes.forget(change.object.metadata.name);
      for (const pod of podsOn(pods, change.previous.metadata.name)) enqueue(keyOf(pod.metadata));
    });
  };

const podSource =
  ({ pods }: PodReleaseOptions, missingNodes: MissingNodeTracker): Source =>
  (enqueue) =>
    pods.subscribe((change) => {
      if (change.type === 'removed') {
        const node = change.previous.spec?.nodeName;
        // Entries of deleted Nodes do not pile up: a later Pod waits again.
        if (node && missingNodes.has(node) && podsOn(pods, node).length === 0) missingNodes.forget(node);
        return;
      }
      const { object } = change;
      if (object.metadata.deletionTimestamp !== undefined && hasVMCleanupFinalizer(object))
        enqueue(keyOf(object.metadata));
    });

const hasVMCleanupFinalizer = (pod: Pod): boolean => hasFinalizer(pod, finalizers.vmCleanup);

const podsOn = (pods: Informers['pods'], node: string) => pods.byIndex('node', node).filter(hasVMCleanupFinalizer);
