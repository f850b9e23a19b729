import {
  apiURL,
  bindAddressFlags,
  type Environment,
  type Flag,
  flag,
  type FlagGroup,
  type FlagRule,
  helpText,
  integer,
  kubeconfigFlag,
  leaderElectionFlags,
  logFlags,
  managerFlagValues,
  managerRules,
  namespaceName,
  optional,
  parseFlagTable,
  type ReadFlag,
  requestLimitFlags,
} from '@tartan/kube/flags';
import { defaultLimits } from './pool/limits.ts';

/** Every flag of the runners controller. No secret is a flag: GitHub Apps are in Secrets beside the pools. */

const processFlags = {
  ...bindAddressFlags,
  ...leaderElectionFlags({ help: 'Namespace of the Lease. Default: that of --namespace.' }),
  ...logFlags,
};

const clusterFlags = {
  kubeconfig: kubeconfigFlag,
  ...requestLimitFlags,
  namespace: flag('namespace', {
    type: optional(namespaceName),
    default: undefined,
    env: 'POD_NAMESPACE',
    help: 'The one namespace whose RunnerPools are looked after. Their Pods and the Secrets of GitHub Apps are beside them.',
  }),
};

const runnerFlags = {
  githubAPIURL: flag('github-api-url', {
    type: apiURL,
    default: 'https://api.github.com',
    env: 'GITHUB_API_URL',
    help: 'Where GitHub is asked. That of a GitHub Enterprise Server ends with /api/v3.',
  }),
  settleSeconds: flag('settle-seconds', {
    // An agent polls its guests every two seconds, and needs one more to report.
    type: integer({ from: 5, to: 3_600 }),
    default: defaultLimits.settleMs / 1000,
    help: 'How long a Pod is kept after its runner was removed at GitHub: a job that was assigned just before is reported in that time, and then the Pod stays until it ends.',
  }),
  stuckAfterSeconds: flag('stuck-after-seconds', {
    type: integer({ from: 10, to: 86_400 }),
    default: defaultLimits.stuckAfterMs / 1000,
    help: 'A Pod that starts, or goes, for longer than this is stuck: condition, event and status of its pool say so. A runner whose virtual machine runs, and which GitHub shows as offline for as long, is retired to free its slot.',
  }),
};

/** Keyed by the property that callers pass to `read`. */
export const flags = { ...processFlags, ...clusterFlags, ...runnerFlags };

/** In the order of the help and the docs. */
export const flagGroups: readonly FlagGroup[] = [
  { title: 'The controller itself', flags: Object.values(processFlags) },
  { title: 'The cluster', flags: Object.values(clusterFlags) },
  { title: 'Runners', flags: Object.values(runnerFlags) },
];

export const allFlags: readonly Flag<unknown>[] = flagGroups.flatMap((group) => group.flags);

export const flagRules: readonly FlagRule[] = [
  {
    description: '`--namespace` is required: the controller creates and deletes Pods there.',
    reads: [flags.namespace],
    problem: (read) =>
      read(flags.namespace) === undefined
        ? '--namespace is not set, so the namespace of the RunnerPools is unknown. Set it, or POD_NAMESPACE.'
        : undefined,
  },
  ...managerRules(flags),
];

/** The options of the runners controller. Holds no secret. */
export type RunnersOptions = ReturnType<typeof runnersOptions>;

/** Assumes that no rule objects: there is a namespace. */
const runnersOptions = (read: ReadFlag) => {
  const namespace = read(flags.namespace) ?? '';
  return {
    ...managerFlagValues(flags, read, namespace),
    namespace,
    githubURL: read(flags.githubAPIURL),
    limits: {
      settleMs: read(flags.settleSeconds) * 1000,
      stuckAfterMs: read(flags.stuckAfterSeconds) * 1000,
    },
  };
};

const table = { groups: flagGroups, rules: flagRules };

/** Parses arguments (without the program's name) and environment. Pure and total. */
export const parseFlags = (argv: readonly string[], env: Environment) => {
  const parsed = parseFlagTable(table, argv, env);
  if ('wantsHelp' in parsed)
    return {
      help: helpText({
        about: 'The controller of GitHub Actions runners: keeps the Pods of RunnerPools.',
        program: 'runners',
        table,
      }),
    };
  return 'read' in parsed ? { options: runnersOptions(parsed.read) } : parsed;
};
