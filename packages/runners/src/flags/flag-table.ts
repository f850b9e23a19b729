import {
  apiURL,
  count,
  electionFlags,
  type Flag,
  flag,
  type FlagGroup,
  kubeconfigFlag,
  logFlags,
  namespaceName,
  optional,
  servingFlags,
} from '@tartan/kube/flags';
import { usualLimits } from '../pool/limits.ts';

/** Every flag of the runners controller. No secret is a flag: what GitHub is asked with is in Secrets beside the pools. */

const processFlags = {
  ...servingFlags,
  ...electionFlags({ help: 'Where the lease is. That of --namespace unless told.' }),
  ...logFlags,
};

const clusterFlags = {
  kubeconfig: kubeconfigFlag,
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
    // An agent looks at its guests every two seconds, and needs one more to tell.
    type: count({ from: 5, to: 3_600 }),
    default: usualLimits.settleMs / 1000,
    help: 'So long after GitHub has forgotten a runner its Pod is left alone: a job that was on its way shows itself in that time, and then the Pod stays until it ends.',
  }),
  stuckAfterSeconds: flag('stuck-after-seconds', {
    type: count({ from: 10, to: 86_400 }),
    default: usualLimits.stuckAfterMs / 1000,
    help: 'A Pod that starts, or goes, for longer than this is stuck: condition, event and status of its pool say so. A runner whose virtual machine runs, and which GitHub shows as offline for as long, is retired to free its slot.',
  }),
};

/** By its property: what `read(flags.leaderElect)` names. */
export const flags = { ...processFlags, ...clusterFlags, ...runnerFlags };

/** In the order of the help and the docs. */
export const flagGroups: readonly FlagGroup[] = [
  { title: 'The controller itself', flags: Object.values(processFlags) },
  { title: 'The cluster', flags: Object.values(clusterFlags) },
  { title: 'Runners', flags: Object.values(runnerFlags) },
];

export const everyFlag: readonly Flag<unknown>[] = flagGroups.flatMap((group) => group.flags);
