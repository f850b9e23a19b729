import { type Environment, helpText as textOf, parseFlagTable, type RemovedFlag } from '@tartan/kube/flags';
import { flagGroups } from './flag-table.ts';
import { credentialVariables } from './parse-credentials.ts';
import { type ProviderOptions, providerOptions } from './provider-options.ts';
import { rules } from './rules.ts';

type ParsedFlags =
  | { readonly options: ProviderOptions }
  | { readonly help: string }
  /** All errors at once, so that one restart shows everything that has to be corrected. */
  | { readonly errors: readonly string[] };

/** The manager's options from its arguments (without the program's name) and its environment. Pure and total. */
export const parseFlags = (argv: readonly string[], env: Environment): ParsedFlags => {
  const parsed = parseFlagTable({ groups: flagGroups, rules, removed: removedFlags }, argv, env);
  if ('wantsHelp' in parsed) return { help: helpText() };
  return 'read' in parsed ? { options: providerOptions(parsed.read) } : parsed;
};

/** `--help`: the flag table as text. */
export const helpText = (): string =>
  textOf({
    about: 'The Cluster API provider for Mac minis at Scaleway.',
    program: 'manager',
    table: { groups: flagGroups },
    variables: {
      title: 'Credentials, from the environment or the files in --scaleway-credentials-path',
      rows: credentialVariables,
    },
  });

const removed = (reason: string, rows: readonly (readonly [name: string, env?: string])[]): RemovedFlag[] =>
  rows.map(([name, env]) => ({ name, env, reason }));

/** Flags of the original that have no meaning here. */
export const removedFlags: readonly RemovedFlag[] = [
  ...removed('the agent is a runtime and a release, see --agent-runtime-path and --agent-release-path', [
    ['tartkubelet-binary-path', 'CAPI_TARTKUBELET_BINARY_PATH'],
  ]),
  ...removed('Macs join as Nodes with certificates of their own, and no ClusterRole is bound for them', [
    ['node-identity-cluster-role', 'CAPI_NODE_IDENTITY_CLUSTER_ROLE'],
  ]),
  ...removed('no log shipper is put on hosts', [
    ['log-shipper-binary-path', 'CAPI_LOG_SHIPPER_BINARY_PATH'],
    ['log-ship-url', 'CAPI_LOG_SHIP_URL'],
    ['log-ship-env', 'CAPI_LOG_SHIP_ENV'],
  ]),
  ...removed('hosts have no cache volume for runners', [
    ['runner-cache-volume-gib'],
    ['cache-volume-master-cap-gib'],
    ['cache-volume-cas-gib'],
  ]),
  ...removed('hosts are attached to no private network', [
    ['vm-cache-pn-name', 'CAPI_VM_CACHE_PN_NAME'],
    ['vm-cache-pn-cidr', 'CAPI_VM_CACHE_PN_CIDR'],
  ]),
  ...removed('there is no packet filter in front of SSH on hosts', [
    ['ssh-ingress-allow-cidrs', 'CAPI_SSH_INGRESS_ALLOW_CIDRS'],
  ]),
  ...removed('no egress Services are made: hosts are dialled at their own addresses', [
    ['tailscale-egress-proxy-group', 'CAPI_TAILSCALE_EGRESS_PROXY_GROUP'],
    ['tailscale-egress-namespace', 'CAPI_TAILSCALE_EGRESS_NAMESPACE'],
    ['tailscale-egress-magicdns-suffix', 'CAPI_TAILSCALE_EGRESS_MAGICDNS_SUFFIX'],
  ]),
  ...removed('logs are set with --log-level and --log-format', [
    ['zap-devel'],
    ['zap-encoder'],
    ['zap-log-level'],
    ['zap-stacktrace-level'],
    ['zap-time-encoding'],
  ]),
];
