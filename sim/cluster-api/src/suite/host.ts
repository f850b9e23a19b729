import type { Client, Subresources } from '@tartan/kube';

/** Where scenarios are played: an API server with Cluster API core, or a stand-in for it, at work. */
export interface Host {
  /** May do everything. */
  readonly client: Client;
  readonly subresources: Pick<Subresources, 'getScale' | 'updateScale'>;
  /** By which core connects to the cluster that Machines join: this one. */
  readonly kubeconfig: string;
  now(): number;
  /** Lets a moment pass, in which others may work. */
  moment(): Promise<void>;
  /** After so long without success, a scenario gives up. */
  readonly patienceMs: number;
  stop(): Promise<void>;
}
