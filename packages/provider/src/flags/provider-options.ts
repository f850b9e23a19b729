import type { VmEgress } from '@tartan/host';
import { type ManagerFlagValues, managerFlagValues, type ReadFlag } from '@tartan/kube/flags';
import { flags } from './flag-table.ts';

/** What the manager was told to be. What belongs together is one member, `undefined` when it is off. Holds no secret. */
export interface ProviderOptions extends ManagerFlagValues {
  readonly machineWorkers: number;
  /** `undefined`: nobody said, and no fleet that names one is Ready. */
  readonly releaseID: string | undefined;
  readonly secretsNamespace: string;
  /** Macs are claimed for the machines of these. */
  readonly machineNamespaces: readonly string[];
  /** `undefined`: what `kube-public/cluster-info` says. */
  readonly apiServerURL: string | undefined;
  /** `undefined`: GitHub's own. */
  readonly githubAPIURL: string | undefined;
  /** The Deployment. */
  readonly fleetSpread: { readonly namespace: string; readonly name: string } | undefined;
  readonly defaultPoolPrefix: string | undefined;
  /** Pools that may be claimed from, the default one among them. */
  readonly allowedPoolPrefixes: readonly string[];
  /** How often Scaleway is asked: for all hosts of a zone, and for one that is expected to change. */
  readonly pollIntervals: { readonly inventoryMs: number; readonly hostMs: number };
  readonly sweep: SweepOptions;
  /** Failed bootstraps; `undefined` is never. */
  readonly bootstrap: { readonly rebootAfter: number | undefined; readonly giveUpAfter: number | undefined };
  /** Failed updates; `undefined` is never. */
  readonly update: { readonly giveUpAfter: number | undefined; readonly retryAfterMs: number | undefined };
  readonly agent: { readonly hostCPU: number; readonly hostMemoryMB: number; readonly maxPods: number };
  readonly artifacts: ArtifactPaths;
  readonly tailscale: TailscaleOptions | undefined;
  readonly vmEgress: VmEgress;
}

/** The search for stranded hosts. */
interface SweepOptions {
  readonly zones: readonly string[];
  readonly intervalMs: number;
  /** `undefined`: only report. Both prefixes are known when there is something to be done. */
  readonly reclaim: { readonly claimNamePrefix: string; readonly poolPrefix: string } | undefined;
}

interface ArtifactPaths {
  readonly agentRuntime: string;
  readonly agentRelease: string;
  readonly tart: string;
  readonly nodeExporter: string | undefined;
  /** `undefined`: this manager can make no builders. */
  readonly builder: Readonly<Record<'runner' | 'packer' | 'crane' | 'oras', string>> | undefined;
}

interface TailscaleOptions {
  readonly binariesPath: string;
  readonly authKeySecretName: string;
  readonly tags: readonly string[];
  readonly acceptRoutes: boolean;
}

const unlessZero = (value: number): number | undefined => (value === 0 ? undefined : value);

const builderOf = (read: ReadFlag): ArtifactPaths['builder'] => {
  const runner = read(flags.actionsRunnerTarballPath);
  const packer = read(flags.packerBinaryPath);
  const crane = read(flags.craneBinaryPath);
  const oras = read(flags.orasBinaryPath);
  return runner && packer && crane && oras ? { runner, packer, crane, oras } : undefined;
};

const tailscaleOf = (read: ReadFlag): TailscaleOptions | undefined => {
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

const allowedPoolPrefixesOf = (read: ReadFlag): readonly string[] => {
  const usual = read(flags.defaultAdoptPoolPrefix);
  return [...new Set([...(usual === undefined ? [] : [usual]), ...read(flags.adoptPoolPrefixes)])];
};

const reclaimOf = (read: ReadFlag): SweepOptions['reclaim'] => {
  const claimNamePrefix = read(flags.orphanReclaimClaimNamePrefix);
  const poolPrefix = read(flags.defaultAdoptPoolPrefix);
  return claimNamePrefix && poolPrefix ? { claimNamePrefix, poolPrefix } : undefined;
};

/** Assumes that no rule objects: what is there by half would be left out without a word. */
export const providerOptions = (read: ReadFlag): ProviderOptions => {
  const secretsNamespace = read(flags.secretsNamespace);
  const spread = read(flags.fleetSpreadDeployment);
  const machineNamespaces = read(flags.machineNamespaces);
  return {
    ...managerFlagValues(flags, read, secretsNamespace),
    machineWorkers: read(flags.machineMaxConcurrentReconciles),
    releaseID: read(flags.releaseID),
    secretsNamespace,
    machineNamespaces: machineNamespaces.length > 0 ? machineNamespaces : [secretsNamespace],
    apiServerURL: read(flags.apiServerURL),
    githubAPIURL: read(flags.githubAPIURL),
    fleetSpread: spread ? { namespace: read(flags.fleetSpreadNamespace) ?? secretsNamespace, name: spread } : undefined,
    defaultPoolPrefix: read(flags.defaultAdoptPoolPrefix),
    allowedPoolPrefixes: allowedPoolPrefixesOf(read),
    pollIntervals: { inventoryMs: read(flags.inventoryInterval), hostMs: read(flags.hostPollInterval) },
    sweep: {
      zones: read(flags.orphanReclaimZones),
      intervalMs: read(flags.orphanReclaimInterval),
      reclaim: reclaimOf(read),
    },
    bootstrap: {
      rebootAfter: unlessZero(read(flags.bootstrapRebootAfter)),
      giveUpAfter: unlessZero(read(flags.bootstrapMaxAttempts)),
    },
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
