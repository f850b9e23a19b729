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
import { formatNameList } from '../format-name-list.ts';
import { abandonReason } from '../mac-host/snapshot.ts';

const help = `Says whether a release of Tartan can be uninstalled: not as long as there are machines, or Macs that are being released.

  --namespace=NAME    of the release. Without it: that of this Pod, or of the kubeconfig
  --release=NAME      what commands for people shall call it
  --kubeconfig=FILE   which cluster. Without it: KUBECONFIG, then the cluster whose Pod this is, then ~/.kube/config
  --version           print the version
  --help              print this

Exit codes: 0 nothing would be left behind; 1 something would, or that is unknown, and why; 2 an argument is invalid.
`;

const parseOptions = (argv: readonly string[]) =>
  parseArgs({
    args: [...argv],
    options: { ...commonOptions, namespace: { type: 'string' }, release: { type: 'string', default: 'RELEASE' } },
  }).values;

const hook: Hook<ReturnType<typeof parseOptions>> = {
  help,
  read: parseOptions,
  // The user waits for it. Long enough for a Pod whose network is late, and for a busy server.
  timeoutMs: 60_000,
  run: async ({ namespace: requestedNamespace, release: name }, place) => {
    const namespace = requestedNamespace ?? place.namespace;
    const decision = decide(await observe(place.client, namespace, place));
    return decision.kind === 'refuse' ? refusalMessage(decision, { namespace, name }) : undefined;
  },
  failed: (why) =>
    `Nobody could tell whether Macs would be left behind: ${why}\nTry again, or skip this with helm uninstall --no-hooks.`,
};

/** The check before `helm uninstall` as a program. Returns the exit code. */
export const runCheck = (argv: readonly string[], surroundings: ProcessContext): Promise<number> =>
  runHook(hook, argv, surroundings);

/** The objects of a release. Empty if our CRDs are not installed: then nothing can be left behind. */
export const observe = async (client: Client, namespace: string, retryOptions: RetryOptions): Promise<Snapshot> => {
  const { signal } = retryOptions;
  const all = <T extends KubeObject>(resource: Resource<T>, options: ListOptions<T>): Promise<List<T>['items']> =>
    retryTransient(
      retryOptions,
      async () => (await ignoreNotFound(client.list(resource, { ...options, signal })))?.items ?? [],
    );
  // In this order: a machine that is deleted in between has released its Mac before.
  const machines = await all(machine.resource, { namespace });
  return { machines, hosts: await all(macHost.resource, {}) };
};

const { machine: machineNames, macHost: macHostNames } = kindNames;

/** All permissions that the check needs. MacHosts are cluster-scoped. */
export const uninstallRights: {
  readonly clusterWide: readonly PolicyRule[];
  readonly inNamespace: readonly PolicyRule[];
} = {
  clusterWide: [{ apiGroups: [macHostNames.group], resources: [macHostNames.plural], verbs: ['list'] }],
  inNamespace: [{ apiGroups: [machineNames.group], resources: [machineNames.plural], verbs: ['list'] }],
};

/** The objects that need a manager. */
export interface Snapshot {
  /** In the namespace of the release, where all its fleets are. */
  readonly machines: readonly Machine[];
  readonly hosts: readonly Host[];
}

export type Decision =
  | { readonly kind: 'go' }
  | { readonly kind: 'refuse'; readonly machines: readonly string[]; readonly hosts: readonly string[] };

/**
 * Whether the manager may be uninstalled.
 *
 *   | there is                                  |                                                              |
 *   |-------------------------------------------|--------------------------------------------------------------|
 *   | a machine, in any state                   | no: only the manager wipes its Mac and removes its finalizer |
 *   | a Mac that is being released              | no: only the manager completes the wipe and renames it       |
 *   | such a Mac that cannot be wiped           | yes: it waits for a user, not for the manager                |
 *   | such a Mac that a user has abandoned      | yes: nothing is done to it                                   |
 *   | Macs in a pool, stranded or in quarantine | yes                                                          |
 *
 * A Mac that is being released has no machine any more, so its release is unknown: all Macs of the cluster count.
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
  return [`  ${names.length} ${names.length === 1 ? one : several}: ${formatNameList(names)}`];
};

/** Why a release cannot be uninstalled yet, and what to do, for the user of `helm uninstall`. */
export const refusalMessage = (
  { machines, hosts }: Extract<Decision, { kind: 'refuse' }>,
  { namespace, name }: Release,
): string =>
  [
    `${name} is not uninstalled: there are Macs that still need its manager.`,
    ...listNames(machines, `machine in the namespace ${namespace}`, `machines in the namespace ${namespace}`),
    ...listNames(hosts, 'Mac being released to the pool', 'Macs being released to the pool'),
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
