import type { Client, Transport } from '@tartan/kube';

/** Where machines, fleets and the provider's Secrets live on a laptop: where `kubectl` looks if nobody says where. */
export const fleetNamespace = 'default';

/** A Kubernetes for a simulated fleet: its own, or one that was there before. */
export interface ControlPlane {
  readonly url: string;
  /** Of a file that only its owner can read; its user may do what a fleet needs to be set up. */
  readonly kubeconfig: string;
  /** PEM. `undefined`: everybody trusts it anyway. */
  readonly ca: string | undefined;
  readonly client: Client;
  readonly transport: Transport;
  /** Plays Cluster API core, since the real one is not there. */
  readonly needsCore: boolean;
  /** Nobody answers until what this resolves with is called. `undefined`: it is not ours to stop. */
  readonly pause: (() => Promise<() => Promise<void>>) | undefined;
  stop(): Promise<void>;
}
