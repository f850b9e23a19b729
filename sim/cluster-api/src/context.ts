import type { Client, Informer, KubeObject, Logger, nodes, Resource, Subresources } from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';
import type { ObjectTracker } from './external/object-tracker.ts';
import type { Cluster, Machine, MachineDeployment, MachineSet } from './kinds.ts';

type TypeOf<R> = R extends Resource<infer T extends KubeObject> ? T : never;

/**
 * Informers, which trigger reconciles. A controller reads the objects that it writes from the server, and objects that it only reads from
 * here: another change triggers it again.
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
  /** Requeue interval of a drain. */
  readonly drainRetryMs: number;
  /** Requeue interval while a referenced object is missing. */
  readonly externalRetryMs: number;
  /** Requeue interval of a Cluster that is being deleted. */
  readonly deletionRetryMs: number;
}

/** What every controller here needs. */
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

/** Options of every call of one reconcile. */
export interface ReconcileOptions {
  readonly signal: AbortSignal;
}
