import type { Artifact } from './artifacts/artifact.ts';

/**
 * Everything that a host should be: the one input of first boot, roll and doctor. What is not here reaches no host.
 * A feature that is undefined is removed from the host. Holds no secret: those are in `HostSecrets`.
 */
export interface HostSpec {
  /** Who logs in over SSH, owns the console session and runs the agent: all three must be the same (m1 at Scaleway). */
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

/** What has to be known to make a Mac ready before it is anybody's Node. */
export type Preparation = Pick<HostSpec, 'user'>;

/** What virtual machines may reach beyond the internet; private networks are blocked but for this. */
export interface VmEgress {
  readonly allow: readonly { readonly cidr: string; readonly protocol: 'tcp' | 'udp'; readonly ports: string }[];
}

export interface Tailscale {
  /** A gzipped tar that holds exactly `tailscale` and `tailscaled`. */
  readonly binaries: Artifact;
  readonly tags: readonly string[];
  readonly acceptRoutes: boolean;
  /** Changes when the key changes, so that a new key is pushed; says nothing about the key. */
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
  /** What the Node reports as its kubelet's, to the letter; that of the agent unless told. */
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

/** Sent on standard input only, and only to the step that asks for it. A secret that is absent is never sent as an empty one. */
export interface HostSecrets {
  /** Of `HostSpec.user`. An empty one and the literal `<sealed>` count as absent. */
  readonly userPassword?: string;
  readonly tailscaleAuthKey?: string;
  /** The kubeconfig with which the agent joins. */
  readonly joinKubeconfig?: string;
  readonly actionsRunnerToken?: string;
}

/** What came of asking for a secret. Never the secret in a message. */
export type OnDemandSecret =
  | { readonly kind: 'known'; readonly secret: string }
  /** For people: why there is none, and what to do. */
  | { readonly kind: 'problem'; readonly message: string };

/**
 * Secrets that somebody else makes anew each time: asked for only once a step has looked at the host and cannot do without, so that a
 * host that is as wanted costs nobody a call.
 */
export type OnDemandSecrets = Partial<
  Readonly<Record<'actionsRunnerToken', (signal: AbortSignal | undefined) => Promise<OnDemandSecret>>>
>;
