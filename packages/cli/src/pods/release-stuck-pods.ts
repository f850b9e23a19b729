import { type CallOptions, isKubeError, type Live, nodes, pods } from '@tartan/kube';
import {
  decide,
  type Decision,
  defaultGraceMs,
  type Pod,
  podFacts,
  removeVMCleanupFinalizer,
} from '@tartan/provider/pods';
import { type Cluster, explainRefusal } from '../cluster/connection.ts';

/** A Pod that is Terminating and held by the finalizer of its agent, and what is to be done about it. */
export interface StuckPod {
  readonly pod: Live<Pod>;
  readonly node: NodeState;
  readonly decision: Decision;
}

type NodeState =
  /** The Pod was never given to one. */
  { readonly kind: 'none' } | { readonly kind: 'gone' } | { readonly kind: 'there'; readonly ready: boolean };

export interface Selection {
  /** All of them unless told. */
  readonly namespace?: string;
  readonly selector?: string;
}

const requiredRights = 'This command lists Pods and gets Nodes; with --apply it also gets and patches Pods.';

/** All that are stuck, in the order of their names. The list and every Node are read from the server. */
export const findStuck = async (
  cluster: Cluster,
  { namespace, selector }: Selection,
  call: CallOptions,
): Promise<StuckPod[]> => {
  const where = namespace === undefined ? 'in all namespaces' : `in the namespace ${namespace}`;
  const advice =
    namespace === undefined ? `Name one with --namespace, or ask for the right. ${requiredRights}` : requiredRights;
  const { items } = await explainRefusal(
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
  return held.map((pod) => judge(cluster, pod, states.get(pod.spec?.nodeName) ?? { kind: 'none' }));
};

const isHeld = (pod: Live<Pod>): boolean => {
  const { held, deletedAt } = podFacts(pod);
  return held && deletedAt !== undefined;
};

/** Only an answer that says so makes a Node gone. */
const nodeState = async (
  { client }: Pick<Cluster, 'client'>,
  name: string | undefined,
  call: CallOptions,
): Promise<NodeState> => {
  if (!name) return { kind: 'none' };
  const advice = `Whether its Node is gone decides over a Pod. ${requiredRights}`;
  const look = client.get(nodes, { name }, call).catch((error: unknown) => {
    if (isKubeError(error, 'notFound')) return undefined;
    throw error;
  });
  const node = await explainRefusal(`get the Node ${name}`, advice, look);
  if (node === undefined) return { kind: 'gone' };
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  return { kind: 'there', ready: ready?.status === 'True' };
};

/**
 * By the rule of the manager. It waits for a grace since it missed the Node; here a person has asked, who may know more, and the grace
 * since the Pod should have ended is waited for alone.
 */
const judge = ({ clock }: Pick<Cluster, 'clock'>, pod: Live<Pod>, node: NodeState): StuckPod => {
  const decision = decide({
    pod: podFacts(pod),
    node: nodeFacts[node.kind],
    now: clock.now(),
    graceMs: defaultGraceMs,
  });
  return { pod, node, decision };
};

const nodeFacts = {
  none: { kind: 'unbound' },
  gone: { kind: 'absent', forMs: Infinity },
  there: { kind: 'present' },
} as const;

/** What became of a stuck Pod. */
export type ReleaseOutcome =
  | { readonly kind: 'would let go'; readonly stuck: StuckPod }
  /** `heldBy`: finalizers of others, for which the Pod still waits. */
  | { readonly kind: 'let go'; readonly stuck: StuckPod; readonly heldBy: readonly string[] }
  /** Nothing was left to do: the Pod is gone, or its agent was faster. */
  | { readonly kind: 'went by itself'; readonly stuck: StuckPod }
  | { readonly kind: 'left'; readonly stuck: StuckPod }
  | { readonly kind: 'failed'; readonly stuck: StuckPod; readonly why: string };

/** Somebody who writes a Pod all the time looks after it. */
const maxAttempts = 3;

/**
 * Lets one Pod go, if that is still right: its Node is asked for right before the write, and the write meets the very Pod that was
 * judged. A Pod that has changed is read and judged anew. Rejects when the server does not answer.
 */
const releasePod = async (cluster: Cluster, first: Live<Pod>, call: CallOptions): Promise<ReleaseOutcome> => {
  let pod = first;
  for (let attempt = 1; ; attempt += 1) {
    const stuck = judge(cluster, pod, await nodeState(cluster, pod.spec?.nodeName, call));
    if (stuck.decision.kind !== 'release') return { kind: isReleased(stuck) ? 'went by itself' : 'left', stuck };
    const removal = await removeVMCleanupFinalizer(cluster.client, pod, call);
    if (removal.kind === 'gone') return { kind: 'went by itself', stuck };
    if (removal.kind === 'removed') return { kind: 'let go', stuck, heldBy: removal.pod.metadata.finalizers ?? [] };
    if (attempt === maxAttempts)
      return { kind: 'failed', stuck, why: `somebody else wrote it ${maxAttempts} times meanwhile; run it again` };
    const now = await readAgain(cluster, pod, call);
    if (now === undefined) return { kind: 'went by itself', stuck };
    pod = now;
  }
};

/** There is nothing left to let go of. */
const isReleased = ({ decision }: StuckPod): boolean => decision.kind === 'leave' && decision.because !== 'nodeExists';

/** The same Pod as it is now; undefined when it is gone, also when another one has its name. */
const readAgain = async ({ client }: Cluster, pod: Live<Pod>, call: CallOptions): Promise<Live<Pod> | undefined> => {
  const { name, namespace = '', uid } = pod.metadata;
  try {
    const now = await client.get(pods, { name, namespace }, call);
    return now.metadata.uid === uid ? now : undefined;
  } catch (error) {
    if (isKubeError(error, 'notFound')) return undefined;
    throw error;
  }
};

/** Side by side: a cluster far away would take a minute for hundreds of Pods one by one, and eight at a time burden nobody. */
const concurrency = 8;

/**
 * Lets all of them go, and tells after each how many are done. Answers one fate for each, in the same order. Where Pods may not be
 * written, the others of that namespace are not tried. A server that stops answering ends it: those that are left have failed.
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
    const why = call.signal.aborted ? 'stopped before its turn' : (broken ?? forbidden.get(namespace));
    if (why !== undefined) return { kind: 'failed', stuck: each, why };
    try {
      return await releasePod(cluster, each.pod, call);
    } catch (error) {
      if (isKubeError(error, 'forbidden')) {
        forbidden.set(namespace, `you may not get and patch Pods in the namespace ${namespace}`);
        return { kind: 'failed', stuck: each, why: forbidden.get(namespace) ?? '' };
      }
      broken ??= call.signal.aborted ? 'stopped' : error instanceof Error ? error.message : String(error);
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
