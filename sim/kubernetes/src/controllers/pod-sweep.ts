import { isReady } from './node-health/disruption.ts';
import { isTerminating, type Node, type Pod } from './shapes.ts';

/** How long a Node may be missing until its Pods are given up: it may be that it has not been heard of yet. */
const quarantine = 40_000;

export interface Sweep {
  /** Bound to a Node that has been missing for too long. */
  orphaned: Pod[];
  /** Being deleted, with nobody there who could end them. */
  abandoned: Pod[];
  /** Missing Nodes and when their Pods may be given up. */
  missing: Map<string, number>;
}

const isOutOfService = (node: Node | undefined): boolean =>
  node !== undefined &&
  !isReady(node) &&
  (node.spec.taints ?? []).some(({ key }) => key === 'node.kubernetes.io/out-of-service');

/** Which Pods nobody will ever end but the control plane. */
export const sweep = (
  pods: readonly Pod[],
  nodes: readonly Node[],
  missing: ReadonlyMap<string, number>,
  now: number,
): Sweep => {
  const byName = new Map(nodes.map((node) => [node.metadata.name, node]));
  const stillMissing = new Map<string, number>();
  const orphaned: Pod[] = [];
  const abandoned: Pod[] = [];
  for (const pod of pods) {
    const { nodeName } = pod.spec;
    if (!nodeName) {
      if (isTerminating(pod)) abandoned.push(pod);
    } else if (!byName.has(nodeName)) {
      const due = missing.get(nodeName) ?? now + quarantine;
      stillMissing.set(nodeName, due);
      if (due <= now) orphaned.push(pod);
    } else if (isTerminating(pod) && isOutOfService(byName.get(nodeName))) {
      abandoned.push(pod);
    }
  }
  return { orphaned, abandoned, missing: stillMissing };
};
