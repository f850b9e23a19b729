import type { CallOptions, EventRecorder, Gate, Redactor, Resource } from '@tartan/kube';
import type { HostPool } from '@tartan/scaleway';
import type { ControllerDeps, Informers } from '../controller-deps.ts';
import type { CoreCluster } from '../core/kinds.ts';
import type { ProviderOptions } from '../flags/provider-options.ts';
import type { FleetKeys } from '../fleet-key/fleet-keys.ts';
import type { HostSettings } from '../host-work/host-settings.ts';
import type { HostWork } from '../host-work/host-work.ts';
import type { ClusterAddress } from '../identity/join-kubeconfig.ts';
import type { RandomBytes } from '../identity/join-token.ts';
import type { BuilderRunners } from './builder-runners.ts';

export interface MachineControllerOptions
  extends ControllerDeps,
    Pick<Informers, 'machines' | 'macHosts' | 'macFleets' | 'nodes' | 'clusters' | 'certificateRequests'> {
  /** The kind of `clusters`, to be read from the server. */
  readonly coreClusters: Resource<CoreCluster>;
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
}
