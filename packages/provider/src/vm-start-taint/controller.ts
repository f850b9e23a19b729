import {
  requeueAfter,
  type Client,
  type Controller,
  type ControllerOptions,
  createController,
  fromInformer,
  isKubeError,
  requestForObject,
  type Logger,
  nodes,
  type Reconciler,
  done,
  type Informer,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { decide, type Node } from './decide.ts';

export interface VmStartTaintOptions {
  readonly client: Pick<Client, 'patch'>;
  readonly nodes: Informer<Node>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: ControllerOptions['metrics'];
}

/** Somebody else has written the Node, such as its taints: look at what it is now. */
const conflictPauseMs = 1000;

/**
 * Taints the Node of a Mac that cannot start virtual machines, and takes the taint away when it can.
 *
 * Guarantees: nothing but the list of taints is written, by optimistic locking: a taint that somebody else adds or removes meanwhile is
 * not lost. The effect is NoSchedule, so nothing that runs is ended. To repeat it after a crash changes nothing.
 * Needs: list, watch, patch of nodes.
 */
export const createVmStartTaint = (options: VmStartTaintOptions): Controller => {
  const { client, clock, log, metrics } = options;

  const reconcile: Reconciler = async (name, signal) => {
    const node = options.nodes.get(name);
    if (node === undefined) return done;
    const decision = decide(node);
    if (decision.kind === 'leave') return done;
    const { resourceVersion, uid } = node.metadata;
    const body = { metadata: { resourceVersion, uid }, spec: { taints: decision.taints } };
    try {
      await client.patch(nodes, { name }, { type: 'merge', body }, { signal });
    } catch (error) {
      if (isKubeError(error, 'conflict', 'notFound')) return requeueAfter(conflictPauseMs);
      throw error;
    }
    log.info('Changed the taint of a Mac by whether virtual machines start on it', {
      node: name,
      decision: decision.kind,
    });
    return done;
  };

  return createController({
    name: 'vm-start-taint',
    reconcile,
    sources: [fromInformer(options.nodes, requestForObject)],
    clock,
    log,
    ...(metrics && { metrics }),
  });
};
