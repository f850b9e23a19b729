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

export type Machine = Live<ScalewayAppleSiliconMachine>;
export type Host = Live<MacHost>;
export type Node = NonNullable<(typeof nodes)['ofType']>;
export type Pod = NonNullable<(typeof pods)['ofType']>;
export type SecretObject = NonNullable<(typeof secrets)['ofType']>;
export type CertificateRequest = NonNullable<(typeof certificateSigningRequests)['ofType']>;

/** The dependencies of every controller. */
export interface ControllerDeps extends Pick<ControllerOptions, 'clock' | 'log' | 'metrics'> {
  readonly client: Client;
}

/** The methods of an informer that controllers use. */
export type Cache<T extends KubeObject> = Pick<Informer<T>, 'get' | 'list' | 'subscribe'>;

/** Informers that several controllers share, created in `manager/caches.ts`. */
export interface Informers {
  readonly machines: Cache<ScalewayAppleSiliconMachine>;
  readonly macHosts: Cache<MacHost>;
  readonly macFleets: Cache<MacFleet>;
  readonly clusters: Cache<CoreCluster>;
  readonly machineDeployments: Cache<CoreMachineDeployment>;
  readonly nodes: Cache<Node>;
  readonly pods: Cache<Pod>;
  readonly certificateRequests: Cache<CertificateRequest>;
}

/** All that finding out whether a Cluster is paused needs. */
export type ClusterGetter = Pick<Cache<CoreCluster>, 'get'>;

/** Only the caches of the informers: `tartan explain` passes plain lists. */
export type Listers = { readonly [Name in keyof Informers]: Pick<Informers[Name], 'get' | 'list'> };
