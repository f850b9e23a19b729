import type { ConditionStatus } from '@tartan/kube';

/** A reason belongs to one status, so nobody can say that something is so because it is not. */
type ReasonWords = readonly [status: ConditionStatus, means: string];

export interface ConditionWords {
  /** What it says when it is True. */
  readonly means: string;
  readonly reasons: Readonly<Record<string, ReasonWords>>;
}

/** Every kind that core can pause has it, in the words of Cluster API. */
export const paused = {
  means: 'The Cluster or the object is paused: nothing is done, and a deletion waits. Certificates are still renewed.',
  reasons: {
    Paused: [
      'True',
      '`spec.paused` of the Cluster is set, or the object has the annotation `cluster.x-k8s.io/paused`.',
    ],
    NotPaused: ['False', 'Neither is.'],
  },
} as const satisfies ConditionWords;

/** Of the kinds that `clusterctl move` would take along. */
export const moveBlocked = {
  means: '`clusterctl move` is not supported: the object has the annotation `clusterctl.cluster.x-k8s.io/block-move`.',
  reasons: {
    MacsAreNodesHere: [
      'True',
      'The Macs are Nodes of the cluster that they are managed from, so another cluster cannot manage them.',
    ],
  },
} as const satisfies ConditionWords;
