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
import type { Host, Machine } from '../controller-deps.ts';
import { commonOptions, type Hook, type RetryOptions, retryTransient, runHook } from '../hooks/run-hook.ts';
import { joinNames } from '../join-names.ts';
import { abandonReason } from '../mac-host/snapshot.ts';

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

/** What there is, as far as it needs a manager. */
export interface Snapshot {
  /** Of the namespace of the release: all its fleets are there. */
  readonly machines: readonly Machine[];
  readonly hosts: readonly Host[];
}

export type Decision =
  | { readonly kind: 'go' }
  | { readonly kind: 'refuse'; readonly machines: readonly string[]; readonly hosts: readonly string[] };

/**
 * May the manager go?
 *
 *   | there is                                   |                                                             |
 *   |--------------------------------------------|-------------------------------------------------------------|
 *   | a machine, whatever it is about to become  | no: nobody else wipes its Mac and takes its finalizer away  |
 *   | a Mac on its way back to a pool            | no: nobody else sees the wipe through and gives it its name |
 *   | such a Mac that cannot be wiped            | yes: it waits for a person, not for the manager             |
 *   | such a Mac that a person has abandoned     | yes: nothing is done to it                                  |
 *   | Macs in a pool, stranded or in quarantine  | yes                                                         |
 *
 * A Mac on its way back belongs to no machine any more, so nobody can tell whose it was: all of the cluster count.
 */
export const decide = ({ machines, hosts }: Snapshot): Decision => {
  const left = machines.map(({ metadata }) => metadata.name);
  const returning = hosts
    .filter(({ spec, status }) => spec.release !== undefined && status?.state !== 'quarantined')
    .filter((host) => abandonReason(host) === undefined)
    .map(({ metadata }) => metadata.name);
  return left.length + returning.length === 0 ? { kind: 'go' } : { kind: 'refuse', machines: left, hosts: returning };
};

interface Release {
  readonly namespace: string;
  readonly name: string;
}

const listNames = (names: readonly string[], one: string, several: string): readonly string[] => {
  if (names.length === 0) return [];
  return [`  ${names.length} ${names.length === 1 ? one : several}: ${joinNames(names)}`];
};

/** Why a release cannot go yet, and what to do: for whoever ran `helm uninstall`. */
export const refusalMessage = (
  { machines, hosts }: Extract<Decision, { kind: 'refuse' }>,
  { namespace, name }: Release,
): string =>
  [
    `${name} is not uninstalled: there are Macs that still need its manager.`,
    ...listNames(machines, `machine in the namespace ${namespace}`, `machines in the namespace ${namespace}`),
    ...listNames(hosts, 'Mac on its way back to the pool', 'Macs on their way back to the pool'),
    'Without a manager they would be left claimed and unwiped, machines would hang on their finalizers, and every Mac would go on being billed.',
    ...(machines.length > 0
      ? [
          'Give them back, and uninstall when no machine is left and no Mac is releasing:',
          `  kubectl -n ${namespace} scale machinedeployment --all --replicas 0`,
          `  kubectl -n ${namespace} get scalewayapplesiliconmachines`,
        ]
      : ['Uninstall when no Mac is releasing:']),
    '  kubectl get machosts',
    'To leave them behind on purpose:',
    `  helm uninstall ${name} --namespace ${namespace} --no-hooks`,
    'To keep the release after all, as helm takes it for uninstalling now (its last revision is in helm history):',
    `  helm rollback ${name} REVISION --namespace ${namespace}`,
    '',
  ].join('\n');
