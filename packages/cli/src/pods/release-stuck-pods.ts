import { type CallOptions, errorMessage, ignoreNotFound, isKubeError, type Live, nodes, pods } from '@tartan/kube';
import {
  decide,
  type Decision,
  defaultGraceMs,
  type Pod,
  podFacts,
  removeVMCleanupFinalizer,
} from '@tartan/provider/pods';
import { type Cluster, explainRefusal } from '../cluster/connection.ts';
import { listAll } from '../cluster/list.ts';
import { readinessOf } from '../cluster/macs.ts';

/** A Terminating Pod with the finalizer of its agent, and the decision about it. */
export interface StuckPod {
  readonly pod: Live<Pod>;
  readonly node: NodeState;
  readonly decision: Decision;
}

/** As the decision function takes it, and whether a present Node is Ready. */
type NodeState = Parameters<typeof decide>[0]['node'] & { readonly ready?: boolean };

export interface Selection {
  /** Undefined: all namespaces. */
  readonly namespace?: string;
  readonly selector?: string;
}

const requiredRights = 'This command lists Pods and gets Nodes; with --apply it also gets and patches Pods.';

/** All stuck Pods. Reads the list and every Node from the server. */
export const findStuck = async (
  cluster: Cluster,
  { namespace, selector }: Selection,
  call: CallOptions,
): Promise<StuckPod[]> => {
  const scope = { ...call, namespace, ...(selector !== undefined && { labelSelector: selector }) };
  const held = (await listAll(cluster, pods, scope)).filter(isHeld);
  const names = [...new Set(held.map(({ spec }) => spec?.nodeName))];
  const states = new Map<string | undefined, NodeState>();
  for (const name of names) states.set(name, await nodeState(cluster, name, call));
  return held.map((pod) => judge(cluster, pod, states.get(pod.spec?.nodeName) ?? { kind: 'unbound' }));
};

const isHeld = (pod: Live<Pod>): boolean => {
  const { held, deletedAt } = podFacts(pod);
  return held && deletedAt !== undefined;
};

/** A Node is absent only if the server says so. */
const nodeState = async (
  { client }: Pick<Cluster, 'client'>,
  name: string | undefined,
  call: CallOptions,
): Promise<NodeState> => {
  if (!name) return { kind: 'unbound' };
  const advice = `The decision about a Pod depends on its Node. ${requiredRights}`;
  const node = await explainRefusal(`get the Node ${name}`, advice, ignoreNotFound(client.get(nodes, { name }, call)));
  return node === undefined
    ? { kind: 'absent', forMs: Infinity }
    : { kind: 'present', ready: readinessOf(node) === 'True' };
};

/** By the rule of the manager, but without the grace period since the Node disappeared: a user has asked for it. */
const judge = ({ clock }: Pick<Cluster, 'clock'>, pod: Live<Pod>, node: NodeState): StuckPod => ({
  pod,
  node,
  decision: decide({ pod: podFacts(pod), node, now: clock.now(), graceMs: defaultGraceMs }),
});

/** The result for a stuck Pod. */
export type ReleaseOutcome =
  | { readonly kind: 'would release'; readonly stuck: StuckPod }
  /** `heldBy`: remaining finalizers of others. */
  | { readonly kind: 'released'; readonly stuck: StuckPod; readonly heldBy: readonly string[] }
  /** The Pod is gone, or its agent has released it. */
  | { readonly kind: 'already gone'; readonly stuck: StuckPod }
  | { readonly kind: 'left'; readonly stuck: StuckPod }
  | { readonly kind: 'failed'; readonly stuck: StuckPod; readonly why: string };

const maxAttempts = 3;

/** Releases one Pod. Reads its Node right before the write, which uses optimistic locking. Decides again if the Pod has changed. */
const releasePod = async (cluster: Cluster, first: Live<Pod>, call: CallOptions): Promise<ReleaseOutcome> => {
  let pod = first;
  for (let attempt = 1; ; attempt += 1) {
    const stuck = judge(cluster, pod, await nodeState(cluster, pod.spec?.nodeName, call));
    if (stuck.decision.kind !== 'release') return { kind: isReleased(stuck) ? 'already gone' : 'left', stuck };
    const removal = await removeVMCleanupFinalizer(cluster.client, pod, call);
    if (removal.kind === 'gone') return { kind: 'already gone', stuck };
    if (removal.kind === 'removed') return { kind: 'released', stuck, heldBy: removal.pod.metadata.finalizers ?? [] };
    if (attempt === maxAttempts)
      return {
        kind: 'failed',
        stuck,
        why: `the Pod was changed ${maxAttempts} times meanwhile; run the command again`,
      };
    const now = await readAgain(cluster, pod, call);
    if (now === undefined) return { kind: 'already gone', stuck };
    pod = now;
  }
};

const isReleased = ({ decision }: StuckPod): boolean => decision.kind === 'skip' && decision.reason !== 'nodeExists';

/** The current version of the Pod; undefined if it is gone or replaced. */
const readAgain = async ({ client }: Cluster, pod: Live<Pod>, call: CallOptions): Promise<Live<Pod> | undefined> => {
  const { name, namespace = '', uid } = pod.metadata;
  const now = await ignoreNotFound(client.get(pods, { name, namespace }, call));
  return now?.metadata.uid === uid ? now : undefined;
};

/** Hundreds of Pods one by one would take a minute in a distant cluster. */
const concurrency = 8;

/**
 * Releases all Pods. Returns one outcome for each, in the same order. After a forbidden write, the other Pods of that namespace are
 * skipped. After another error, all remaining Pods are skipped.
 */
export const releasePods = async (
  cluster: Cluster,
  stuck: readonly StuckPod[],
  onProgress: (done: number) => void,
  call: CallOptions & { readonly signal: AbortSignal },
): Promise<ReleaseOutcome[]> => {
  const forbidden = new Map<string, string>();
  let broken: string | undefined;
  let done = 0;

  const outcomeOf = async (each: StuckPod): Promise<ReleaseOutcome> => {
    const { namespace = '' } = each.pod.metadata;
    const why = call.signal.aborted ? 'stopped before' : (broken ?? forbidden.get(namespace));
    if (why !== undefined) return { kind: 'failed', stuck: each, why };
    try {
      return await releasePod(cluster, each.pod, call);
    } catch (error) {
      if (isKubeError(error, 'forbidden')) {
        forbidden.set(namespace, `you may not get and patch Pods in the namespace ${namespace}`);
        return { kind: 'failed', stuck: each, why: forbidden.get(namespace) ?? '' };
      }
      broken ??= call.signal.aborted ? 'stopped' : errorMessage(error);
      return { kind: 'failed', stuck: each, why: broken };
    }
  };

  const outcomes: ReleaseOutcome[] = [];
  const queue = stuck.entries();
  const worker = async (): Promise<void> => {
    for (const [index, each] of queue) {
      outcomes[index] = await outcomeOf(each);
      done += 1;
      onProgress(done);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return outcomes;
};
