import {
  type Controller,
  createController,
  done,
  fromInformer,
  ignoreNotFound,
  nodes,
  patchIfUnchanged,
  type Reconciler,
  requestForObject,
  requeueOnConflict,
} from '@tartan/kube';
import type { ControllerDeps, Informers } from '../controller-deps.ts';
import { decide } from './decide.ts';

type VmStartTaintOptions = ControllerDeps & Pick<Informers, 'nodes'>;

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
    const change = { spec: { taints: decision.taints } };
    const written = await ignoreNotFound(patchIfUnchanged(client, nodes, node, change, { signal }));
    if (written === undefined) return done;
    log.info('Changed the taint of a Mac by whether virtual machines start on it', {
      node: name,
      decision: decision.kind,
    });
    return done;
  };

  return createController({
    name: 'vm-start-taint',
    reconcile: requeueOnConflict(reconcile),
    sources: [fromInformer(options.nodes, requestForObject)],
    clock,
    log,
    metrics,
  });
};
