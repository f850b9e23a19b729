import { serverNames } from '@tartan/api';
import { type Flag, managerRules, type ReadFlag, type FlagRule } from '@tartan/kube/flags';
import { flags } from './flag-table.ts';

const flagNames = (rows: readonly Flag<unknown>[]): string => rows.map(({ name }) => `--${name}`).join(', ');

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);

/** `needed` are given together or not at all; `extra` may be added, but has no effect alone. */
const allOrNone = (
  description: string,
  { needed, extra = [] }: { needed: readonly Flag<unknown>[]; extra?: readonly Flag<unknown>[] },
): FlagRule => ({
  description,
  reads: [...needed, ...extra],
  problem: (read) => {
    const present = [...needed, ...extra].filter((flag) => isSet(read(flag)));
    const absent = needed.filter((flag) => !isSet(read(flag)));
    if (present.length === 0 || absent.length === 0) return undefined;
    return `${flagNames(present)} needs ${flagNames(absent)} as well. Add what is missing, or leave all of them out.`;
  },
});

/** Prefixes of hosts between pool and machine: being claimed by the original, or being released. */
const transitionalPrefixes = [serverNames.claimPendingPrefix, serverNames.releasingPrefix];

const overlap = (a: string, b: string): boolean => a.startsWith(b) || b.startsWith(a);

/** Each flag that holds prefixes, with a function that reads them. */
const poolPrefixFlags: readonly PrefixFlag[] = [
  { flag: flags.defaultAdoptPoolPrefix, prefixesIn: (read) => [read(flags.defaultAdoptPoolPrefix) ?? []].flat() },
  { flag: flags.adoptPoolPrefixes, prefixesIn: (read) => read(flags.adoptPoolPrefixes) },
];
const claimPrefixFlag: PrefixFlag = {
  flag: flags.orphanReclaimClaimNamePrefix,
  prefixesIn: (read) => [read(flags.orphanReclaimClaimNamePrefix) ?? []].flat(),
};

interface PrefixFlag {
  readonly flag: Flag<unknown>;
  readonly prefixesIn: (read: ReadFlag) => readonly string[];
}

export const rules: readonly FlagRule[] = [
  allOrNone('A tailnet needs the binaries, the Secret and at least one tag.', {
    needed: [flags.tailscaleBinariesPath, flags.tailscaleAuthKeySecretName, flags.tailscaleTags],
    extra: [flags.tailscaleAcceptRoutes],
  }),
  {
    description: 'node_exporter listens on the tailnet only, so it needs one.',
    reads: [flags.nodeExporterBinaryPath, flags.tailscaleBinariesPath],
    problem: (read) =>
      isSet(read(flags.nodeExporterBinaryPath)) && !isSet(read(flags.tailscaleBinariesPath))
        ? '--node-exporter-binary-path needs a tailnet, as it listens there only. Add the --tailscale-… flags, or leave it out.'
        : undefined,
  },
  allOrNone('Builders need all four of their programs.', {
    needed: [flags.actionsRunnerTarballPath, flags.packerBinaryPath, flags.craneBinaryPath, flags.orasBinaryPath],
  }),
  allOrNone('Virtual machines reach a network of the cluster only together with its DNS.', {
    needed: [flags.vmKuraEgressCIDR, flags.vmClusterDNSIP],
  }),
  allOrNone('A namespace to spread in needs a Deployment to spread.', {
    needed: [flags.fleetSpreadDeployment],
    extra: [flags.fleetSpreadNamespace],
  }),
  allOrNone('Stranded hosts can be given back only to a pool that is named.', {
    needed: [flags.defaultAdoptPoolPrefix],
    extra: [flags.orphanReclaimClaimNamePrefix],
  }),
  {
    description:
      'Only their names distinguish claimed hosts from hosts in the pool: neither prefix may begin with the other.',
    reads: [...poolPrefixFlags, claimPrefixFlag].map(({ flag }) => flag),
    problem: (read) => {
      for (const { flag, prefixesIn } of poolPrefixFlags)
        for (const pool of prefixesIn(read))
          for (const claim of claimPrefixFlag.prefixesIn(read))
            if (overlap(pool, claim))
              return (
                `--orphan-reclaim-claim-name-prefix "${claim}" and --${flag.name} "${pool}" overlap: ` +
                'a host in the pool would count as claimed. Choose prefixes of which neither begins with the other.'
              );
      return undefined;
    },
  },
  ...[...poolPrefixFlags, claimPrefixFlag].map(
    ({ flag, prefixesIn }): FlagRule => ({
      description: `\`--${flag.name}\` must not overlap ${transitionalPrefixes.map((name) => `\`${name}\``).join(' or ')}, the names of hosts between pool and machine.`,
      reads: [flag],
      problem: (read) => {
        for (const prefix of prefixesIn(read)) {
          const taken = transitionalPrefixes.find((name) => overlap(prefix, name));
          if (taken !== undefined)
            return `--${flag.name} "${prefix}" overlaps "${taken}", the name of hosts between pool and machine. Choose another prefix.`;
        }
        return undefined;
      },
    }),
  ),
  {
    description: 'The reboot comes before the host is given up.',
    reads: [flags.bootstrapRebootAfter, flags.bootstrapMaxAttempts],
    problem: (read) => {
      const reboot = read(flags.bootstrapRebootAfter);
      const most = read(flags.bootstrapMaxAttempts);
      return reboot > 0 && most > 0 && reboot >= most
        ? `--bootstrap-reboot-after ${reboot} is not below --bootstrap-max-attempts ${most}: the host would be given up before its reboot. ` +
            'Lower the first, or set it to 0 for no reboot.'
        : undefined;
    },
  },
  ...managerRules(flags),
];
