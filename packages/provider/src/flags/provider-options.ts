import type { VmEgress } from '@tartan/host';
import { managerFlagValues, type ReadFlag } from '@tartan/kube/flags';
import { flags } from './flag-table.ts';

/** What the manager was told to be. What belongs together is one member, `undefined` when it is off. Holds no secret. */
export type ProviderOptions = ReturnType<typeof providerOptions>;

const unlessZero = (value: number): number | undefined => (value === 0 ? undefined : value);

/** `undefined`: this manager can make no builders. */
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

/** Pools that may be claimed from, the default one among them. */
const allowedPoolPrefixesOf = (read: ReadFlag): readonly string[] => {
  const usual = read(flags.defaultAdoptPoolPrefix);
  return [...new Set([...(usual === undefined ? [] : [usual]), ...read(flags.adoptPoolPrefixes)])];
};

/** `undefined`: stranded hosts are only reported. Both prefixes are known when there is something to be done. */
const reclaimOf = (read: ReadFlag) => {
  const claimNamePrefix = read(flags.orphanReclaimClaimNamePrefix);
  const poolPrefix = read(flags.defaultAdoptPoolPrefix);
  return claimNamePrefix && poolPrefix ? { claimNamePrefix, poolPrefix } : undefined;
};

/** Assumes that no rule objects: what is there by half would be left out without a word. */
export const providerOptions = (read: ReadFlag) => {
  const secretsNamespace = read(flags.secretsNamespace);
  const spread = read(flags.fleetSpreadDeployment);
  const machineNamespaces = read(flags.machineNamespaces);
  return {
    ...managerFlagValues(flags, read, secretsNamespace),
    machineWorkers: read(flags.machineMaxConcurrentReconciles),
    /** `undefined`: nobody said, and no fleet that names one is Ready. */
    releaseID: read(flags.releaseID),
    secretsNamespace,
    /** Macs are claimed for the machines of these. */
    machineNamespaces: machineNamespaces.length > 0 ? machineNamespaces : [secretsNamespace],
    /** `undefined`: what `kube-public/cluster-info` says. */
    apiServerURL: read(flags.apiServerURL),
    /** `undefined`: GitHub's own. */
    githubAPIURL: read(flags.githubAPIURL),
    fleetSpread: spread ? { namespace: read(flags.fleetSpreadNamespace) ?? secretsNamespace, name: spread } : undefined,
    defaultPoolPrefix: read(flags.defaultAdoptPoolPrefix),
    allowedPoolPrefixes: allowedPoolPrefixesOf(read),
    /** How often Scaleway is asked: for all hosts of a zone, and for one that is expected to change. */
    pollIntervals: { inventoryMs: read(flags.inventoryInterval), hostMs: read(flags.hostPollInterval) },
    sweep: {
      zones: read(flags.orphanReclaimZones),
      intervalMs: read(flags.orphanReclaimInterval),
      reclaim: reclaimOf(read),
    },
    /** Failed bootstraps; `undefined` is never. */
    bootstrap: {
      rebootAfter: unlessZero(read(flags.bootstrapRebootAfter)),
      giveUpAfter: unlessZero(read(flags.bootstrapMaxAttempts)),
    },
    /** Failed updates; `undefined` is never. */
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
