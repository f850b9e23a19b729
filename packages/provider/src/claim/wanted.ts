import type { MacHost } from '@tartan/api';
import type { Live } from '@tartan/kube';

/** What a machine looks for in the pool. */
export interface Wanted {
  readonly name: string;
  readonly uid: string;
  readonly zone: string;
  /** `M2-L` */
  readonly type: string;
  /** The release family of macOS. One with a version counts as its family. */
  readonly os: string;
  /** An empty one is no pool: nothing fits. */
  readonly poolPrefix: string;
  /** The server that this machine is recorded to hold, by `spec.providerID` and by its Secret. Undefined: none. */
  readonly recordedServer: string | undefined;
}

/** What there is. */
export interface Supply {
  readonly hosts: readonly Live<MacHost>[];
  /** Servers that other machines have reserved: `status.serverID` of all but this one. */
  readonly reservedByOthers: ReadonlySet<string>;
  readonly now: number;
}
