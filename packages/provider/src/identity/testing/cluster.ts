import type { Transport } from '@tartan/kube';

/** A cluster on which Macs join, and how everybody in the story reaches it. */
export interface JoinableCluster {
  readonly url: string;
  readonly ca: string;
  /** May do anything. */
  readonly admin: Transport;
  /** Has the rights of `rights.ts`, and no others. */
  readonly provider: Transport;
  /** As whoever has this token or certificate. */
  as(credentials: { token: string } | { cert: string; key: string }): Transport;
  close(): Promise<void>;
}
