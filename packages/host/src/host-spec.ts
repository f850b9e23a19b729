import type { Artifact } from './artifacts/artifact.ts';

/**
 * The desired state of a host: the only input of first boot, rollout and doctor. An undefined feature is removed from the host.
 * Holds no secret: those are in `HostSecrets`.
 */
export interface HostSpec {
  /** The user that logs in over SSH, owns the console session and runs the agent (m1 at Scaleway). */
  readonly user: string;
  /** Name of the Node, and of the Mac. */
  readonly nodeName: string;
  /** A gzipped tar that holds `tart.app` whole. */
  readonly tart: Artifact;
  readonly vmEgress: VmEgress;
  readonly tailscale?: Tailscale;
  /** Needs `tailscale`: it listens on the tailnet address only. */
  readonly nodeExporter?: Artifact;
  readonly agent: Agent;
  /** Makes the host a builder. */
  readonly ghActionsRunner?: GhActionsRunner;
}

/** The specification of a Mac that is not a Node yet. */
export type Preparation = Pick<HostSpec, 'user'>;

/** Private networks that virtual machines may reach. All others are blocked. */
export interface VmEgress {
  readonly allow: readonly { readonly cidr: string; readonly protocol: 'tcp' | 'udp'; readonly ports: string }[];
}

export interface Tailscale {
  /** A gzipped tar that holds exactly `tailscale` and `tailscaled`. */
  readonly binaries: Artifact;
  readonly tags: readonly string[];
  readonly acceptRoutes: boolean;
  /** Changes with the key, so that a new key is pushed. Reveals nothing about it. */
  readonly authKeyVersion: string;
}

export interface Agent {
  /** The stock, signed `node` for the Mac. */
  readonly runtime: Artifact;
  /** The agent: one bundled `.mjs` file. */
  readonly release: Artifact;
  readonly nodeLabels: Readonly<Record<string, string>>;
  /** `scw-applesilicon://<zone>/<id>`, once known. */
  readonly providerID?: string;
  /** The kubelet version that the Node reports. Default: the version of the agent. */
  readonly kubeletVersion?: string;
  readonly hostCPU: number;
  readonly hostMemoryMB: number;
  readonly maxPods: number;
  /** Changes when the join credentials change, such as the public half of a bootstrap token. */
  readonly joinVersion: string;
}

export interface GhActionsRunner {
  readonly org: string;
  readonly labels: readonly string[];
  /** The runner's own `actions-runner-osx-arm64` gzipped tar. */
  readonly runner: Artifact;
  /** Plain executables. */
  readonly packer: Artifact;
  readonly crane: Artifact;
  readonly oras: Artifact;
}

/** Sent on standard input only, and only to the step that needs it. */
export interface HostSecrets {
  /** Of `HostSpec.user`. An empty one and the literal `<sealed>` count as absent. */
  readonly userPassword?: string;
  readonly tailscaleAuthKey?: string;
  /** The kubeconfig with which the agent joins. */
  readonly joinKubeconfig?: string;
  readonly actionsRunnerToken?: string;
}

/** The result of fetching a secret. Messages never contain it. */
export type OnDemandSecret =
  | { readonly kind: 'known'; readonly secret: string }
  /** Why there is none, and what to do. */
  | { readonly kind: 'problem'; readonly message: string };

/**
 * Secrets that are created for each use: fetched only after a step has checked the host and needs it, so that an up-to-date host costs
 * no request.
 */
export interface OnDemandSecrets {
  readonly actionsRunnerToken?: (signal: AbortSignal | undefined) => Promise<OnDemandSecret>;
}
