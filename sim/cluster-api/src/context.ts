import type { Client, Informer, KubeObject, Logger, nodes, Resource, Subresources } from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';
import type { ObjectTracker } from './external/object-tracker.ts';
import type { Cluster, Machine, MachineDeployment, MachineSet } from './kinds.ts';

type TypeOf<R> = R extends Resource<infer T extends KubeObject> ? T : never;

/**
 * Copies of what is there: they wake controllers up. What a controller then works on it reads from the server; what it only looks at, and
 * will hear of again when that changes, it finds here.
 */
interface Caches {
  readonly clusters: Informer<Cluster>;
  readonly machines: Informer<Machine>;
  readonly machineSets: Informer<MachineSet>;
  readonly machineDeployments: Informer<MachineDeployment>;
  /** With an index `providerID`. */
  readonly nodes: Informer<TypeOf<typeof nodes>>;
}

export interface Intervals {
  /** Between two looks at a Node that is being drained. */
  readonly drainRetryMs: number;
  /** Until an object that a reference names, and that is not there, is looked for again. */
  readonly externalRetryMs: number;
  /** Between two looks at a Cluster whose parts go. */
  readonly deletionRetryMs: number;
}

/** What every controller here works with. */
export interface Context {
  readonly client: Client;
  readonly evictPod: Subresources['evictPod'];
  readonly externals: ObjectTracker;
  readonly caches: Caches;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly intervals: Intervals;
}

/** Of every call of one pass. */
export interface ReconcileOptions {
  readonly signal: AbortSignal;
}
