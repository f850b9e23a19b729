import type { Live, nodes } from '@tartan/kube';
import type { External } from '../contract/externals.ts';
import type { DrainPlan } from '../drain/plan-drain.ts';
import type { Cluster, Machine, MachineDeployment, MachineSet } from '../kinds.ts';

export type Node = NonNullable<(typeof nodes)['ofType']>;

/** All that is known of a Machine at one moment. */
export interface Snapshot {
  readonly machine: Live<Machine>;
  readonly cluster: Live<Cluster>;
  /** Who made it, if anybody did. */
  readonly machineSet: Live<MachineSet> | undefined;
  readonly machineDeployment: Live<MachineDeployment> | undefined;
  /** Undefined when the Machine refers to none. */
  readonly infrastructure: External | undefined;
  /** That have its provider ID. More than one is a mistake of somebody. Empty while the cluster cannot be looked into. */
  readonly nodes: readonly Live<Node>[];
  /** Whether Nodes can be looked at. */
  readonly connected: boolean;
  readonly now: number;
}

/** What is read on top of that when it is being deleted. */
export interface Leaving {
  readonly controlPlane: External | undefined;
  readonly controlPlaneMachines: number;
  /** Undefined when it has none, or nobody can look at it. */
  readonly node: { readonly cordoned: boolean; readonly unreachable: boolean; readonly drain: DrainPlan } | undefined;
}

export const isDeleting = ({ metadata }: { metadata: { deletionTimestamp?: string } }): boolean =>
  metadata.deletionTimestamp !== undefined;
