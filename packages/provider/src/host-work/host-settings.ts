import type { Agent, Artifact, GhActionsRunner, VmEgress } from '@tartan/host';

/** What all Macs of this manager are given, whichever fleet they belong to. Made once at the start: artifacts are read and hashed then. */
export interface HostSettings {
  readonly agent: Pick<Agent, 'runtime' | 'release' | 'hostCPU' | 'hostMemoryMB' | 'maxPods'>;
  readonly tart: Artifact;
  readonly nodeExporter: Artifact | undefined;
  readonly vmEgress: VmEgress;
  readonly tailscale:
    | {
        readonly binaries: Artifact;
        readonly authKeySecretName: string;
        readonly tags: readonly string[];
        readonly acceptRoutes: boolean;
      }
    | undefined;
  /** `undefined`: this manager can make no builders. */
  readonly builder: Pick<GhActionsRunner, 'runner' | 'packer' | 'crane' | 'oras'> | undefined;
}
