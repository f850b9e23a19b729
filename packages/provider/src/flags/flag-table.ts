import {
  absolutePath,
  apiURL,
  bindAddressFlags,
  bool,
  duration,
  type Flag,
  flag,
  type FlagGroup,
  integer,
  ipv4Address,
  ipv4Network,
  kubeconfigFlag,
  leaderElectionFlags,
  listOf,
  logFlags,
  namespaceName,
  objectName,
  optional,
  requestLimitFlags,
  serverURL,
  stringMatching,
} from '@tartan/kube/flags';

/** Limited to what a label value allows, so that it can be one. */
export const releaseID = stringMatching({
  placeholder: 'id',
  example: '1f0c9a2e',
  pattern: /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/,
  longest: 63,
  otherwise: 'is no id of a release (letters, digits, dashes, underscores and dots)',
});

/** The dash at the end keeps `tuist-pool-` from matching a host named `tuist-pooling`. */
export const hostNamePrefix = stringMatching({
  placeholder: 'prefix',
  example: 'tuist-pool-',
  pattern: /^[a-z0-9][-a-z0-9]*-$/,
  longest: 63,
  otherwise: 'is no prefix of host names: lower-case letters, digits and dashes, with a dash at the end',
});

export const zone = stringMatching({
  placeholder: 'zone',
  example: 'fr-par-1',
  pattern: /^[a-z]{2}-[a-z]{3}-\d{1,2}$/,
  otherwise: 'is no zone of Scaleway',
});

export const tailscaleTag = stringMatching({
  placeholder: 'tag',
  example: 'tag:tuist-macmini',
  pattern: /^tag:[A-Za-z][-A-Za-z0-9]*$/,
  otherwise: 'is no tag: those begin with "tag:" and a letter',
});

/**
 * Every flag of the manager. Names and variables of the original stay where the meaning is the same, so that its chart can be carried over.
 * No secret is a flag: users who may list processes or read a Pod see its arguments.
 */

const minute = 60_000;
const hour = 60 * minute;
const path = optional(absolutePath);

const processFlags = {
  ...bindAddressFlags,
  ...leaderElectionFlags({
    env: 'POD_NAMESPACE',
    help: 'Namespace of the Lease. Default: that of --secrets-namespace.',
  }),
  machineMaxConcurrentReconciles: flag('machine-max-concurrent-reconciles', {
    type: integer({ from: 1, to: 64 }),
    default: 4,
    help: 'How many machines are worked on at once, and so how many hosts are pushed to at once.',
  }),
  releaseID: flag('release-id', {
    type: optional(releaseID),
    default: undefined,
    help: 'What this manager was installed as. A MacFleet whose spec.releaseID is another one is not Ready until that one speaks.',
  }),
  ...logFlags,
};

const clusterFlags = {
  kubeconfig: kubeconfigFlag,
  ...requestLimitFlags,
  secretsNamespace: flag('secrets-namespace', {
    type: namespaceName,
    default: 'default',
    help: 'Where the SSH keys of fleets and the credentials of hosts are kept.',
  }),
  machineNamespaces: flag('machine-namespaces', {
    type: listOf(namespaceName),
    default: [],
    help: 'Namespaces whose machines get Macs. Default: that of --secrets-namespace. A machine elsewhere gets none, with the condition Allowed False; one that already has a Mac keeps it.',
  }),
  apiServerURL: flag('api-server-url', {
    type: optional(serverURL),
    default: undefined,
    env: 'CAPI_TARTKUBELET_API_SERVER_URL',
    help: 'Where Macs reach the API server. Without it: what kube-public/cluster-info says.',
  }),
  githubAPIURL: flag('github-api-url', {
    type: optional(apiURL),
    default: undefined,
    env: 'GITHUB_API_URL',
    help: 'URL of the GitHub API that lists the runners of builders. Default: that of github.com.',
  }),
  fleetSpreadDeployment: flag('fleet-spread-deployment', {
    type: optional(objectName),
    default: undefined,
    env: 'CAPI_FLEET_SPREAD_DEPLOYMENT',
    help: 'A Deployment that is rolled when the set of ready Macs changes, as the scheduler never moves Pods that run.',
  }),
  fleetSpreadNamespace: flag('fleet-spread-namespace', {
    type: optional(namespaceName),
    default: undefined,
    env: 'CAPI_FLEET_SPREAD_NAMESPACE',
    help: 'Namespace of that Deployment. Default: that of --secrets-namespace.',
  }),
};

const poolFlags = {
  scalewayCredentialsPath: flag('scaleway-credentials-path', {
    type: path,
    default: undefined,
    help: 'Folder with the files SCW_ACCESS_KEY, SCW_SECRET_KEY and SCW_DEFAULT_PROJECT_ID, such as a mounted Secret. They come before the variables of these names. A new key in these files is used by the next request, without a restart.',
  }),
  defaultAdoptPoolPrefix: flag('default-adopt-pool-prefix', {
    type: optional(hostNamePrefix),
    default: undefined,
    env: 'CAPI_DEFAULT_ADOPT_POOL_PREFIX',
    help: 'How hosts in the pool are named, for machines that do not say so in spec.adoptPoolPrefix. Without both, a machine that is deleted leaves its host behind, with the event ReleaseSkipped.',
  }),
  adoptPoolPrefixes: flag('adopt-pool-prefixes', {
    type: listOf(hostNamePrefix),
    default: [],
    env: 'CAPI_ADOPT_POOL_PREFIXES',
    help: 'The pools that machines may name in spec.adoptPoolPrefix, that of --default-adopt-pool-prefix always among them. A machine that names another one claims nothing. A host that is held goes back to the pool it came from, listed here or not.',
  }),
  inventoryInterval: flag('inventory-interval', {
    type: duration({ fromMs: 1_000, toMs: 24 * hour }),
    default: minute,
    help: 'How often the hosts of a zone are listed at Scaleway.',
  }),
  hostPollInterval: flag('host-poll-interval', {
    type: duration({ fromMs: 100, toMs: 24 * hour }),
    default: 10_000,
    help: 'How often a host is looked at that is expected to change at Scaleway, such as one that is being wiped. After twelve looks that show nothing it is asked for once more. A claim counts when the name that it gave has stood for two of these; less than 10s is for managers that share their Scaleway project with no other cluster.',
  }),
  orphanReclaimZones: flag('orphan-reclaim-zones', {
    type: listOf(zone),
    default: ['fr-par-1'],
    env: 'CAPI_ORPHAN_RECLAIM_ZONES',
    help: 'Zones that are searched for stranded hosts even when no machine is left there. Zones of machines always are.',
  }),
  orphanReclaimInterval: flag('orphan-reclaim-interval', {
    type: duration({ fromMs: 1_000, toMs: 24 * hour }),
    default: 15 * minute,
    help: 'How often stranded hosts are searched for.',
  }),
  orphanReclaimClaimNamePrefix: flag('orphan-reclaim-claim-name-prefix', {
    type: optional(hostNamePrefix),
    default: undefined,
    env: 'CAPI_ORPHAN_RECLAIM_CLAIM_NAME_PREFIX',
    help: 'Stranded hosts whose names begin so are wiped and given back to the pool. Without it, stranded hosts are only reported. Name nothing that another cluster of the same Scaleway project claims.',
  }),
};

const repairFlags = {
  bootstrapRebootAfter: flag('bootstrap-reboot-after', {
    type: integer({ from: 0, to: 1_000 }),
    default: 3,
    help: 'A host is rebooted, once, after so many failed bootstraps. 0: never.',
  }),
  bootstrapMaxAttempts: flag('bootstrap-max-attempts', {
    type: integer({ from: 0, to: 1_000 }),
    default: 8,
    help: 'A host is given back, quarantined, after so many failed bootstraps, and the machine claims another. 0: never.',
  }),
  tartkubeletMaxUpdateAttempts: flag('tartkubelet-max-update-attempts', {
    type: integer({ from: 0, to: 1_000 }),
    default: 5,
    help: 'Updates of a host that may fail before it is left alone until there is something new to push. 0: no limit.',
  }),
  tartkubeletTerminalRetryAfter: flag('tartkubelet-terminal-retry-after', {
    type: duration({ fromMs: 1_000, toMs: 7 * 24 * hour, zero: true }),
    default: 30 * minute,
    help: 'After so long, a host that was left alone is tried again with what failed. 0: never.',
  }),
};

const agentFlags = {
  tartkubeletHostCPU: flag('tartkubelet-host-cpu', {
    type: integer({ from: 1, to: 256 }),
    default: 8,
    help: 'CPUs that a Mac offers to Pods, for machines that do not say so in spec.hostCPU.',
  }),
  tartkubeletHostMemoryMB: flag('tartkubelet-host-memory-mb', {
    type: integer({ from: 1_024, to: 1_048_576 }),
    default: 16_384,
    help: 'Memory that a Mac offers to Pods, in MB, for machines that do not say so in spec.hostMemoryMB.',
  }),
  tartkubeletMaxPods: flag('tartkubelet-max-pods', {
    type: integer({ from: 1, to: 110 }),
    default: 2,
    help: 'Pods that a Mac takes at most. macOS itself runs no more than two virtual machines at a time.',
  }),
};

const artifactsFlags = {
  agentRuntimePath: flag('agent-runtime-path', {
    type: absolutePath,
    default: '/opt/tart-kubelet/node',
    env: 'CAPI_AGENT_RUNTIME_PATH',
    help: 'The stock, signed node for Macs with Apple silicon, which runs the agent.',
  }),
  agentReleasePath: flag('agent-release-path', {
    type: absolutePath,
    default: '/opt/tart-kubelet/tart-kubelet.mjs',
    env: 'CAPI_AGENT_RELEASE_PATH',
    help: 'The agent: one bundled file.',
  }),
  tartTarballPath: flag('tart-tarball-path', {
    type: absolutePath,
    default: '/opt/tart/tart.tar.gz',
    env: 'CAPI_TART_TARBALL_PATH',
    help: 'A gzipped tar that holds tart.app whole.',
  }),
  nodeExporterBinaryPath: flag('node-exporter-binary-path', {
    type: path,
    default: undefined,
    env: 'CAPI_NODE_EXPORTER_BINARY_PATH',
    help: 'node_exporter for Macs. Without it, hosts run none.',
  }),
  actionsRunnerTarballPath: flag('actions-runner-tarball-path', {
    type: path,
    default: undefined,
    env: 'CAPI_ACTIONS_RUNNER_TARBALL_PATH',
    help: "GitHub's own actions-runner-osx-arm64 gzipped tar, for builders.",
  }),
  packerBinaryPath: flag('packer-binary-path', {
    type: path,
    default: undefined,
    env: 'CAPI_PACKER_BINARY_PATH',
    help: 'packer for Macs, for builders.',
  }),
  craneBinaryPath: flag('crane-binary-path', {
    type: path,
    default: undefined,
    env: 'CAPI_CRANE_BINARY_PATH',
    help: 'crane for Macs, for builders.',
  }),
  orasBinaryPath: flag('oras-binary-path', {
    type: path,
    default: undefined,
    env: 'CAPI_ORAS_BINARY_PATH',
    help: 'oras for Macs, for builders.',
  }),
};

const networkFlags = {
  tailscaleBinariesPath: flag('tailscale-binaries-path', {
    type: path,
    default: undefined,
    env: 'CAPI_TAILSCALE_BINARIES_PATH',
    help: 'A gzipped tar that holds exactly tailscale and tailscaled. Without it, hosts join no tailnet.',
  }),
  tailscaleAuthKeySecretName: flag('tailscale-auth-key-secret-name', {
    type: optional(objectName),
    default: undefined,
    env: 'CAPI_TAILSCALE_AUTH_KEY_SECRET_NAME',
    help: 'The Secret of --secrets-namespace whose key auth-key holds what hosts join the tailnet with.',
  }),
  tailscaleTags: flag('tailscale-tags', {
    type: listOf(tailscaleTag),
    default: [],
    env: 'CAPI_TAILSCALE_TAGS',
    help: 'Tags of hosts in the tailnet.',
  }),
  tailscaleAcceptRoutes: flag('tailscale-accept-routes', {
    type: bool,
    default: false,
    env: 'CAPI_TAILSCALE_ACCEPT_ROUTES',
    help: 'Whether hosts take the routes that other devices of the tailnet offer.',
  }),
  vmKuraEgressCIDR: flag('vm-kura-egress-cidr', {
    type: optional(ipv4Network),
    default: undefined,
    env: 'CAPI_VM_KURA_EGRESS_CIDR',
    help: 'A private network that virtual machines may reach on TCP port 4000. All other private networks are closed to them.',
  }),
  vmClusterDNSIP: flag('vm-cluster-dns-ip', {
    type: optional(ipv4Address),
    default: undefined,
    env: 'CAPI_VM_CLUSTER_DNS_IP',
    help: 'The DNS server of the cluster, which virtual machines may then reach on port 53.',
  }),
};

/** By property name, for `read(flags.leaderElect)`. */
export const flags = {
  ...processFlags,
  ...clusterFlags,
  ...poolFlags,
  ...repairFlags,
  ...agentFlags,
  ...artifactsFlags,
  ...networkFlags,
};

/** In the order of the help and the docs. */
export const flagGroups: readonly FlagGroup[] = [
  { title: 'The manager itself', flags: Object.values(processFlags) },
  { title: 'The cluster', flags: Object.values(clusterFlags) },
  { title: 'The pool of hosts', flags: Object.values(poolFlags) },
  { title: 'Hosts that fail', flags: Object.values(repairFlags) },
  { title: 'What a Mac offers', flags: Object.values(agentFlags) },
  { title: 'What is put on hosts', flags: Object.values(artifactsFlags) },
  { title: 'Networks', flags: Object.values(networkFlags) },
];

export const allFlags: readonly Flag<unknown>[] = flagGroups.flatMap((group) => group.flags);
