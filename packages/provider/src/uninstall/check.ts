import { parseArgs } from 'node:util';
import { kindNames, machine, macHost } from '@tartan/api';
import {
  type Client,
  ignoreNotFound,
  type KubeObject,
  type List,
  type ListOptions,
  type PolicyRule,
  type ProcessContext,
  type Resource,
} from '@tartan/kube';
import { type RetryOptions, retryTransient } from '../hooks/retry.ts';
import { commonOptions, type Hook, runHook } from '../hooks/run-hook.ts';
import { decide, refusalMessage, type Snapshot } from './decide.ts';

const help = `Says whether a release of Tartan can be uninstalled: not as long as there are machines, or Macs on their way back to the pool.

  --namespace=NAME    of the release. Without it: that of this Pod, or of the kubeconfig
  --release=NAME      what commands for people shall call it
  --kubeconfig=FILE   which cluster. Without it: KUBECONFIG, then the cluster whose Pod this is, then ~/.kube/config
  --version           print the version
  --help              print this

Exit codes: 0 nothing would be left behind; 1 something would, or nobody could tell, and why; 2 it was told what it does not understand.
`;

const parseOptions = (argv: readonly string[]) =>
  parseArgs({
    args: [...argv],
    options: { ...commonOptions, namespace: { type: 'string' }, release: { type: 'string', default: 'RELEASE' } },
  }).values;

const hook: Hook<ReturnType<typeof parseOptions>> = {
  help,
  read: parseOptions,
  // Whoever uninstalls waits for it. Long enough for a Pod whose network comes up late, and for a server that is busy.
  timeoutMs: 60_000,
  run: async ({ namespace: told, release: name }, place) => {
    const namespace = told ?? place.namespace;
    const decision = decide(await observe(place.client, namespace, place));
    return decision.kind === 'refuse' ? refusalMessage(decision, { namespace, name }) : undefined;
  },
  failed: (why) =>
    `Nobody could tell whether Macs would be left behind: ${why}\nTry again, or skip this with helm uninstall --no-hooks.`,
};

/** The guard of `helm uninstall` as a program. Answers the code to exit with. */
export const runCheck = (argv: readonly string[], surroundings: ProcessContext): Promise<number> =>
  runHook(hook, argv, surroundings);

/** What there is of a release. Nothing, where our kinds are not defined: then there is nothing to lose either. */
export const observe = async (client: Client, namespace: string, patience: RetryOptions): Promise<Snapshot> => {
  const { signal } = patience;
  const all = <T extends KubeObject>(resource: Resource<T>, options: ListOptions<T>): Promise<List<T>['items']> =>
    retryTransient(
      patience,
      async () => (await ignoreNotFound(client.list(resource, { ...options, signal })))?.items ?? [],
    );
  // In this order: a machine that goes meanwhile has left its Mac on the way back.
  const machines = await all(machine.resource, { namespace });
  return { machines, hosts: await all(macHost.resource, {}) };
};

const { machine: machineNames, macHost: macHostNames } = kindNames;

/** All that looking for what would be left behind takes. Macs belong to no namespace. */
export const uninstallRights: {
  readonly clusterWide: readonly PolicyRule[];
  readonly inNamespace: readonly PolicyRule[];
} = {
  clusterWide: [{ apiGroups: [macHostNames.group], resources: [macHostNames.plural], verbs: ['list'] }],
  inNamespace: [{ apiGroups: [machineNames.group], resources: [machineNames.plural], verbs: ['list'] }],
};
