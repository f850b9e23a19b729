import type { MacFleet, MacHost, ScalewayAppleSiliconMachine } from '@tartan/api';
import type {
  CallOptions,
  certificateSigningRequests,
  Client,
  ControllerOptions,
  EventRecorder,
  Gate,
  Informer,
  Logger,
  nodes,
  Redactor,
  Resource,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { HostPool } from '@tartan/scaleway';
import type { CoreCluster } from '../core/cluster.ts';
import type { ProviderOptions } from '../flags/provider-options.ts';
import type { FleetKeys } from '../fleet-key/fleet-keys.ts';
import type { HostSettings } from '../host-work/host-settings.ts';
import type { HostWork } from '../host-work/host-work.ts';
import type { ClusterAddress } from '../identity/join-kubeconfig.ts';
import type { RandomBytes } from '../identity/join-token.ts';
import type { BuilderRunners } from './builder-runners.ts';

export type Node = NonNullable<(typeof nodes)['ofType']>;
type CertificateRequest = NonNullable<(typeof certificateSigningRequests)['ofType']>;

export interface MachineControllerOptions {
  readonly client: Client;
  readonly machines: Informer<ScalewayAppleSiliconMachine>;
  readonly macHosts: Informer<MacHost>;
  readonly macFleets: Informer<MacFleet>;
  readonly nodes: Informer<Node>;
  readonly clusters: Informer<CoreCluster>;
  /** The same kind, to be read from the server. */
  readonly coreClusters: Resource<CoreCluster>;
  readonly certificateRequests: Informer<CertificateRequest>;
  /** Only to be asked: the MacHost controller is the one that changes anything there. */
  readonly pool: Pick<HostPool, 'getServer'>;
  readonly fleetKeys: FleetKeys;
  readonly hostWork: HostWork;
  /** Asked before anything is done on a Mac. */
  readonly gate: Gate;
  readonly settings: HostSettings;
  readonly options: Pick<
    ProviderOptions,
    | 'machineWorkers'
    | 'releaseID'
    | 'secretsNamespace'
    | 'machineNamespaces'
    | 'defaultPoolPrefix'
    | 'allowedPoolPrefixes'
    | 'bootstrap'
    | 'update'
  >;
  /** How Macs reach the API server. */
  readonly address: (call: CallOptions) => Promise<ClusterAddress>;
  readonly builderRunners: BuilderRunners;
  readonly randomBytes: RandomBytes;
  readonly redactor: Pick<Redactor, 'add'>;
  readonly events: Pick<EventRecorder, 'event'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: ControllerOptions['metrics'];
}
