import { labels, labelValues, vmStartCondition, vmStartTaint } from '@tartan/api';
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
import type { ControllerDeps, Informers, Node } from '../controller-deps.ts';

type VmStartTaintOptions = ControllerDeps & Pick<Informers, 'nodes'>;

/**
 * Taints the Node of a Mac that cannot start virtual machines, and removes the taint when it can.
 * Guarantees: writes only the list of taints, by optimistic locking: a concurrent change of another taint is not lost. The effect is
 * NoSchedule, so running Pods stay. Idempotent after a crash.
 * Needs: list, watch, patch of nodes.
 */
export const createVmStartTaint = (options: VmStartTaintOptions): Controller => {
  const { client, log } = options;

  const reconcile: Reconciler = async (name, signal) => {
    const node = options.nodes.get(name);
    if (node === undefined) return done;
    const decision = decide(node);
    if (decision.kind === 'skip') return done;
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
    ...options,
    name: 'vm-start-taint',
    reconcile: requeueOnConflict(reconcile),
    sources: [fromInformer(options.nodes, requestForObject)],
  });
};

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];

type Decision =
  | { readonly kind: 'skip' }
  /** All taints: the list is replaced as a whole. */
  | { readonly kind: 'add taint' | 'remove taint'; readonly taints: readonly Taint[] };

const isOurs = ({ key, effect }: Taint): boolean => key === vmStartTaint.key && effect === vmStartTaint.effect;

/**
 * Whether the Node needs the taint that keeps Pods off while its Mac cannot start virtual machines. Pure and total. The agent reports it in
 * a condition, as no Node may taint itself. `Unknown` changes nothing: an agent that has just started reports that.
 */
export const decide = ({ metadata, spec, status }: Node): Decision => {
  const skip: Decision = { kind: 'skip' };
  const { [labels.os]: os, [labels.runtime]: runtime } = metadata?.labels ?? {};
  const isMac = os === labelValues.os && runtime === labelValues.runtime;
  if (!isMac || metadata?.deletionTimestamp !== undefined) return skip;
  const starts = status?.conditions?.find(({ type }) => type === vmStartCondition)?.status ?? 'True';
  const taints = spec?.taints ?? [];
  const isTainted = taints.some(isOurs);
  if (starts === 'False' && !isTainted) return { kind: 'add taint', taints: [...taints, { ...vmStartTaint }] };
  if (starts === 'True' && isTainted) return { kind: 'remove taint', taints: taints.filter((one) => !isOurs(one)) };
  return skip;
};
