import type { MacFleet, MacHost, ScalewayAppleSiliconMachine } from '@tartan/api';
import type {
  certificateSigningRequests,
  Client,
  ControllerOptions,
  Informer,
  KubeObject,
  Live,
  nodes,
  pods,
  secrets,
} from '@tartan/kube';
import type { CoreCluster, CoreMachineDeployment } from './core/kinds.ts';
import type {
  certificateRequestIndexes,
  macFleetIndexes,
  machineDeploymentIndexes,
  machineIndexes,
  macHostIndexes,
  nodeIndexes,
  podIndexes,
} from './indexes.ts';

export type Machine = Live<ScalewayAppleSiliconMachine>;
export type Host = Live<MacHost>;
export type CoreNode = NonNullable<(typeof nodes)['ofType']>;
type NodeStatus = NonNullable<CoreNode['status']>;
/** The fields that the cache keeps. Of annotations and conditions it keeps only those in `trimNode`. */
export interface Node extends KubeObject {
  spec?: Pick<NonNullable<CoreNode['spec']>, 'providerID' | 'unschedulable' | 'taints'>;
  status?: Pick<NodeStatus, 'addresses'> & {
    conditions?: Pick<
      NonNullable<NodeStatus['conditions']>[number],
      'type' | 'status' | 'message' | 'lastTransitionTime'
    >[];
  };
}
export type Pod = NonNullable<(typeof pods)['ofType']>;
export type SecretObject = NonNullable<(typeof secrets)['ofType']>;
export type CertificateRequest = NonNullable<(typeof certificateSigningRequests)['ofType']>;

/** The dependencies of every controller. */
export interface ControllerDeps extends Pick<ControllerOptions, 'clock' | 'log' | 'metrics'> {
  readonly client: Client;
}

/** What a cache holds. `Index`: the names of its indexes, all from `indexes.ts`. */
export interface Lister<T extends KubeObject, Index extends string = never> extends Pick<Informer<T>, 'get' | 'list'> {
  byIndex(index: Index, value: string): Live<T>[];
  /** How many objects have each value. */
  countByIndex(index: Index): ReadonlyMap<string, number>;
}

/** The methods of an informer that controllers use. */
export type Cache<T extends KubeObject, Index extends string = never> = Lister<T, Index> &
  Pick<Informer<T>, 'subscribe'>;

/** Informers that several controllers share, created in `manager/caches.ts`. */
export interface Informers {
  readonly machines: Cache<ScalewayAppleSiliconMachine, keyof typeof machineIndexes>;
  readonly macHosts: Cache<MacHost, keyof typeof macHostIndexes>;
  readonly macFleets: Cache<MacFleet, keyof typeof macFleetIndexes>;
  readonly clusters: Omit<Cache<CoreCluster>, 'byIndex' | 'countByIndex'>;
  readonly machineDeployments: Cache<CoreMachineDeployment, keyof typeof machineDeploymentIndexes>;
  readonly nodes: Cache<Node, keyof typeof nodeIndexes>;
  readonly pods: Cache<Pod, keyof typeof podIndexes>;
  readonly certificateRequests: Cache<CertificateRequest, keyof typeof certificateRequestIndexes>;
  /** Without their values (`withoutSecretValues`). */
  readonly machineSecrets: Omit<Cache<SecretObject>, 'byIndex' | 'countByIndex'>;
  readonly tailscaleSecrets: Omit<Cache<SecretObject>, 'byIndex' | 'countByIndex'>;
}

/** All that finding out whether a Cluster is paused needs. */
export type ClusterGetter = Pick<Cache<CoreCluster>, 'get'>;

/** Only the content of the caches: `tartan explain` passes plain lists. */
export type Listers = { readonly [Name in keyof Informers]: Omit<Informers[Name], 'subscribe'> };
