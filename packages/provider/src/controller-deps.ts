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

/** What every controller is made with. */
export interface ControllerDeps extends Pick<ControllerOptions, 'clock' | 'log' | 'metrics'> {
  readonly client: Client;
}

/** What controllers use of an informer. */
export type Cache<T extends KubeObject> = Pick<Informer<T>, 'get' | 'list' | 'subscribe'>;

/** Informers that several controllers share: `manager/caches.ts` makes them. */
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

/** All that a pause is looked up by. */
export type ClusterGetter = Pick<Cache<CoreCluster>, 'get'>;

/** Their caches alone: `tartan explain` has plain lists in place of informers. */
export type Listers = { readonly [Name in keyof Informers]: Pick<Informers[Name], 'get' | 'list'> };
