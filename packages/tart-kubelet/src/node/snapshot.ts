import type { Live, nodes } from '@tartan/kube';
import type { Facts } from './host-facts.ts';
import type { Wanted } from './wanted.ts';

export type Node = NonNullable<(typeof nodes)['ofType']>;
export type NodeStatus = NonNullable<Node['status']>;
export type NodeCondition = NonNullable<NodeStatus['conditions']>[number];

/** All that matters for the Node. */
export interface Snapshot {
  readonly now: number;
  readonly wanted: Wanted;
  readonly node: Live<Node> | undefined;
  readonly facts: Facts;
  /** Of the host's stamps. `undefined`: they cannot be read, which says nothing of the host. */
  readonly summary: string | undefined;
}
