import type { VmEgress } from '@tartan/host';
import { managerFlagValues, type ReadFlag } from '@tartan/kube/flags';
import { flags } from './flag-table.ts';

/** The manager's options. Options that belong together form one member, `undefined` when the feature is off. Contains no secret. */
export type ProviderOptions = ReturnType<typeof providerOptions>;

const unlessZero = (value: number): number | undefined => (value === 0 ? undefined : value);

/** `undefined`: this manager cannot provision builders. */
const builderOf = (read: ReadFlag) => {
  const runner = read(flags.actionsRunnerTarballPath);
  const packer = read(flags.packerBinaryPath);
  const crane = read(flags.craneBinaryPath);
  const oras = read(flags.orasBinaryPath);
  return runner && packer && crane && oras ? { runner, packer, crane, oras } : undefined;
};

const tailscaleOf = (read: ReadFlag) => {
  const binariesPath = read(flags.tailscaleBinariesPath);
  const authKeySecretName = read(flags.tailscaleAuthKeySecretName);
  return binariesPath && authKeySecretName
    ? {
        binariesPath,
        authKeySecretName,
        tags: read(flags.tailscaleTags),
        acceptRoutes: read(flags.tailscaleAcceptRoutes),
      }
    : undefined;
};

/** The ports are those of the original. */
const vmEgressOf = (read: ReadFlag): VmEgress => {
  const network = read(flags.vmKuraEgressCIDR);
  const dns = read(flags.vmClusterDNSIP);
  return {
    allow: [
      ...(network === undefined ? [] : [{ cidr: network, protocol: 'tcp' as const, ports: '4000' }]),
      ...(dns === undefined
        ? []
        : (['tcp', 'udp'] as const).map((protocol) => ({ cidr: `${dns}/32`, protocol, ports: '53' }))),
    ],
  };
};

/** Pools that machines may claim from, including the default pool. */
const allowedPoolPrefixesOf = (read: ReadFlag): readonly string[] => {
  const usual = read(flags.defaultAdoptPoolPrefix);
  return [...new Set([...(usual === undefined ? [] : [usual]), ...read(flags.adoptPoolPrefixes)])];
};

/** `undefined`: stranded hosts are only reported. Reclaiming needs both prefixes. */
const reclaimOf = (read: ReadFlag) => {
  const claimNamePrefix = read(flags.orphanReclaimClaimNamePrefix);
  const poolPrefix = read(flags.defaultAdoptPoolPrefix);
  return claimNamePrefix && poolPrefix ? { claimNamePrefix, poolPrefix } : undefined;
};

/** Assumes that all flag rules hold: incomplete groups of flags would be dropped silently. */
export const providerOptions = (read: ReadFlag) => {
  const secretsNamespace = read(flags.secretsNamespace);
  const spread = read(flags.fleetSpreadDeployment);
  const machineNamespaces = read(flags.machineNamespaces);
  return {
    ...managerFlagValues(flags, read, secretsNamespace),
    machineWorkers: read(flags.machineMaxConcurrentReconciles),
    /** `undefined`: not set, and no fleet with a `spec.releaseID` is Ready. */
    releaseID: read(flags.releaseID),
    secretsNamespace,
    /** Machines in these namespaces get hosts. */
    machineNamespaces: machineNamespaces.length > 0 ? machineNamespaces : [secretsNamespace],
    /** `undefined`: taken from `kube-public/cluster-info`. */
    apiServerURL: read(flags.apiServerURL),
    /** `undefined`: only from the environment. */
    scalewayCredentialsPath: read(flags.scalewayCredentialsPath),
    /** `undefined`: github.com. */
    githubAPIURL: read(flags.githubAPIURL),
    fleetSpread: spread ? { namespace: read(flags.fleetSpreadNamespace) ?? secretsNamespace, name: spread } : undefined,
    defaultPoolPrefix: read(flags.defaultAdoptPoolPrefix),
    allowedPoolPrefixes: allowedPoolPrefixesOf(read),
    /** How often Scaleway is polled: for all hosts of a zone, and for one host that is expected to change. */
    pollIntervals: { inventoryMs: read(flags.inventoryInterval), hostMs: read(flags.hostPollInterval) },
    sweep: {
      zones: read(flags.orphanReclaimZones),
      intervalMs: read(flags.orphanReclaimInterval),
      reclaim: reclaimOf(read),
    },
    /** Numbers of failed bootstraps; `undefined`: never. */
    bootstrap: {
      rebootAfter: unlessZero(read(flags.bootstrapRebootAfter)),
      giveUpAfter: unlessZero(read(flags.bootstrapMaxAttempts)),
    },
    /** After failed updates; `undefined`: never. */
    update: {
      giveUpAfter: unlessZero(read(flags.tartkubeletMaxUpdateAttempts)),
      retryAfterMs: unlessZero(read(flags.tartkubeletTerminalRetryAfter)),
    },
    agent: {
      hostCPU: read(flags.tartkubeletHostCPU),
      hostMemoryMB: read(flags.tartkubeletHostMemoryMB),
      maxPods: read(flags.tartkubeletMaxPods),
    },
    artifacts: {
      agentRuntime: read(flags.agentRuntimePath),
      agentRelease: read(flags.agentReleasePath),
      tart: read(flags.tartTarballPath),
      nodeExporter: read(flags.nodeExporterBinaryPath),
      builder: builderOf(read),
    },
    tailscale: tailscaleOf(read),
    vmEgress: vmEgressOf(read),
  };
};
