import { finalizers } from '@tartan/api';
import {
  type Controller,
  type ControllerOptions,
  createController,
  done,
  hasFinalizer,
  type Informer,
  keyOf,
  nameOf,
  type Reconciler,
  requeueAfter,
  type Source,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { type ActDeps, releasePod } from './act.ts';
import { decide, defaultGraceMs } from './decide.ts';
import { createMissingNodeTracker, type MissingNodeTracker } from './missing-nodes.ts';
import { cachedReader, type Node, observe, type Pod, recordNode } from './observe.ts';

export interface PodReleaseOptions extends Omit<ActDeps, 'observer'> {
  /** All Pods that an agent may hold. Only names, finalizers, deletion and `spec.nodeName` are read. */
  pods: Informer<Pod>;
  /** All Nodes: the grace counts from when one is missing here. What is missing here only is found before anything is written. */
  nodes: Informer<Node>;
  clock: Clock;
  metrics?: ControllerOptions['metrics'];
  /** 5 min unless told: a Mac that reboots is back by then. */
  graceMs?: number;
}

/**
 * Lets go of Pods that are being deleted and whose Mac is gone, so that a dead Mac does not hold them forever (invariant 6).
 * Needs: get, list, watch of nodes; get, list, watch, patch of pods; create, patch of events.
 */
export const createPodRelease = (options: PodReleaseOptions): Controller => {
  const { pods, nodes, clock, log, metrics, graceMs = defaultGraceMs } = options;
  const missingNodes = createMissingNodeTracker(clock);
  const observer = { missingNodes, clock, graceMs };
  const cached = cachedReader({ pods, nodes });

  const reconcile: Reconciler = async (key, signal) => {
    const observation = await observe(observer, cached, nameOf(key), { signal });
    recordNode(missingNodes, observation);
    const decision = decide(observation.snapshot);
    switch (decision.kind) {
      case 'leave':
        return done;
      case 'wait':
        return requeueAfter(decision.forMs);
      case 'release':
        return releasePod({ ...options, observer }, nameOf(key), signal);
    }
  };

  return createController({
    name: 'pod-release',
    reconcile,
    sources: [nodeSource(options, missingNodes), podSource(options, missingNodes)],
    clock,
    log,
    metrics,
  });
};

type Caches = Pick<PodReleaseOptions, 'pods' | 'nodes'>;

/** Told of every Node that comes back, also between two looks at its Pods. What was seen before this run is not trusted. */
const nodeSource =
  ({ pods, nodes }: Caches, missingNodes: MissingNodeTracker): Source =>
  (enqueue) => {
    missingNodes.clear();
    return nodes.subscribe((change) => {
      if (change.type !== 'removed') return missingNodes.forget(change.object.metadata.name);
      for (const pod of podsOn(pods, change.previous.metadata.name)) enqueue(keyOf(pod.metadata));
    });
  };

const podSource =
  ({ pods }: Caches, missingNodes: MissingNodeTracker): Source =>
  (enqueue) =>
    pods.subscribe((change) => {
      if (change.type === 'removed') {
        const node = change.previous.spec?.nodeName;
        // Names of Nodes that are gone do not pile up: who asks again later waits again.
        if (node && missingNodes.has(node) && podsOn(pods, node).length === 0) missingNodes.forget(node);
        return;
      }
      const { object } = change;
      if (object.metadata.deletionTimestamp !== undefined && hasVMCleanupFinalizer(object))
        enqueue(keyOf(object.metadata));
    });

const hasVMCleanupFinalizer = (pod: Pod): boolean => hasFinalizer(pod, finalizers.vmCleanup);

const podsOn = (pods: Informer<Pod>, node: string) =>
  pods.list().filter((pod) => pod.spec?.nodeName === node && hasVMCleanupFinalizer(pod));
