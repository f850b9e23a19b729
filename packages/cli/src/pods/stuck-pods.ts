import { type CallOptions, isKubeError, type Live, nodes, pods } from '@tartan/kube';
import { type Decision, decide, factsOf, type Pod, usualGraceMs } from '@tartan/provider/pods';
import { asked, type Cluster } from '../cluster/cluster.ts';

/** A Pod that is Terminating and held by the finalizer of its agent, and what is to be done about it. */
export interface StuckPod {
  readonly pod: Live<Pod>;
  readonly node: NodeState;
  readonly decision: Decision;
}

export type NodeState =
  /** The Pod was never given to one. */
  { readonly kind: 'none' } | { readonly kind: 'gone' } | { readonly kind: 'there'; readonly ready: boolean };

export interface Selection {
  /** All of them unless told. */
  readonly namespace?: string;
  readonly selector?: string;
}

const needs = 'This command lists Pods and gets Nodes; with --apply it also gets and patches Pods.';

/** All that are stuck, in the order of their names. The list and every Node are read from the server. */
export const findStuck = async (
  cluster: Cluster,
  { namespace, selector }: Selection,
  call: CallOptions,
): Promise<StuckPod[]> => {
  const where = namespace === undefined ? 'in all namespaces' : `in the namespace ${namespace}`;
  const advice = namespace === undefined ? `Name one with --namespace, or ask for the right. ${needs}` : needs;
  const { items } = await asked(
    `list Pods ${where}`,
    advice,
    cluster.client.list(pods, {
      ...call,
      ...(namespace !== undefined && { namespace }),
      ...(selector !== undefined && { labelSelector: selector }),
    }),
  );
  const held = items.filter(isHeld);
  const names = [...new Set(held.map(({ spec }) => spec?.nodeName))];
  const states = new Map<string | undefined, NodeState>();
  for (const name of names) states.set(name, await nodeState(cluster, name, call));
  return held.map((pod) => judged(cluster, pod, states.get(pod.spec?.nodeName) ?? { kind: 'none' }));
};

const isHeld = (pod: Live<Pod>): boolean => {
  const { held, deletedAt } = factsOf(pod);
  return held && deletedAt !== undefined;
};

/** Only an answer that says so makes a Node gone. */
export const nodeState = async (
  { client }: Pick<Cluster, 'client'>,
  name: string | undefined,
  call: CallOptions,
): Promise<NodeState> => {
  if (!name) return { kind: 'none' };
  const advice = `Whether its Node is gone decides over a Pod. ${needs}`;
  const look = client.get(nodes, { name }, call).catch((error: unknown) => {
    if (isKubeError(error, 'notFound')) return undefined;
    throw error;
  });
  const node = await asked(`get the Node ${name}`, advice, look);
  if (node === undefined) return { kind: 'gone' };
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  return { kind: 'there', ready: ready?.status === 'True' };
};

/**
 * By the rule of the manager. It waits for a grace since it missed the Node; here a person has asked, who may know more, and the grace
 * since the Pod should have ended is waited for alone.
 */
export const judged = ({ clock }: Pick<Cluster, 'clock'>, pod: Live<Pod>, node: NodeState): StuckPod => {
  const decision = decide({
    pod: factsOf(pod),
    node: whereabouts[node.kind],
    now: clock.now(),
    graceMs: usualGraceMs,
  });
  return { pod, node, decision };
};

const whereabouts = {
  none: { kind: 'unbound' },
  gone: { kind: 'absent', forMs: Infinity },
  there: { kind: 'present' },
} as const;
