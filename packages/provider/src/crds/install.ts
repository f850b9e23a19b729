import { parseArgs } from 'node:util';
import { type CustomResourceDefinition, definitions } from '@tartan/api/crds';
import {
  type Client,
  customResourceDefinitions,
  ignoreNotFound,
  type PolicyRule,
  type ProcessContext,
} from '@tartan/kube';
import { type Clock, sleep } from '@tartan/kube/clock';
import { retryIntervalMs, retryTransient } from '../hooks/retry.ts';
import { commonOptions, type Hook, runHook } from '../hooks/run-hook.ts';
import { decide } from './decide.ts';

const help = `Brings Tartan's custom resource definitions up to date in a cluster, and waits until they are served.

Definitions that are missing are created, others replaced; labels and annotations of others stay. Nothing is ever deleted. One
that is newer, because it has fields that this version does not know, is left as it is: going back would lose what is kept there.

  --kubeconfig=FILE   which cluster. Without it: KUBECONFIG, then the cluster whose Pod this is, then ~/.kube/config
  --drop-fields       also replace definitions that have fields which this version does not know
  --version           print the version
  --help              print this

Exit codes: 0 all are served; 1 not all are, and why; 2 it was told what it does not understand.
`;

const parseOptions = (argv: readonly string[]) =>
  parseArgs({
    args: [...argv],
    options: { ...commonOptions, 'drop-fields': { type: 'boolean', default: false } },
  }).values;

const hook: Hook<ReturnType<typeof parseOptions>> = {
  help,
  read: parseOptions,
  // Long enough for an API server to be replaced meanwhile, and less than the five minutes that Helm gives a hook.
  timeoutMs: 4 * 60_000,
  run: async ({ 'drop-fields': dropFields }, { client, clock, signal }, { stdout }) => {
    await installDefinitions({ client, clock, signal, dropFields, say: (line) => stdout(`${line}\n`) });
    return undefined;
  },
  failed: (why, { signal }) => (signal.aborted ? 'Stopped. What is installed stays, and the next run goes on.' : why),
};

/** The installer as a program. Answers the code to exit with. */
export const runInstall = (argv: readonly string[], surroundings: ProcessContext): Promise<number> =>
  runHook(hook, argv, surroundings);

interface InstallOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Tells a line for each definition as soon as something is known of it. */
  readonly say: (line: string) => void;
  /** Also replaces definitions that have fields which ours lack: what objects hold there is lost. */
  readonly dropFields: boolean;
  /** Fires when there is no more time. */
  readonly signal: AbortSignal;
  /** Ours, unless told. */
  readonly wanted?: readonly CustomResourceDefinition[];
}

/**
 * Brings the custom resource definitions of a cluster up to date.
 *
 * Flow: each is created, replaced or left alone, then waited for until the server serves it.
 * Guarantees: nothing is deleted; a write that somebody else came before is thought over again; safe to repeat and to stop at any point.
 * Rejects with an error made for people at the first that cannot be installed. Those before it stay installed.
 */
export const installDefinitions = async (options: InstallOptions): Promise<void> => {
  for (const definition of options.wanted ?? definitions) {
    const outcome = await retryTransient(options, () => installDefinition(options, definition));
    options.say(`${definition.metadata?.name} ${outcome}`);
  }
  for (const { metadata } of options.wanted ?? definitions) await waitUntilServed(options, metadata?.name ?? '');
};

const installDefinition = async (options: InstallOptions, wanted: CustomResourceDefinition): Promise<string> => {
  const { client, dropFields, signal } = options;
  const name = wanted.metadata?.name ?? '';
  const found = await ignoreNotFound(client.get(customResourceDefinitions, { name }, { signal }));
  const decision = decide(wanted, found, { dropFields });
  switch (decision.kind) {
    case 'create':
      await client.create(customResourceDefinitions, wanted, { signal });
      return 'created';
    case 'update': {
      const { metadata } = await client.update(customResourceDefinitions, decision.object, { signal });
      // The server writes nothing when nothing changes.
      return metadata.resourceVersion === found?.metadata.resourceVersion ? 'is up to date' : 'replaced';
    }
    case 'keep':
      return `left as it is: it is newer than this program, and has ${listFirst(decision.more)} besides`;
    case 'refuse':
      throw new Error(
        `${name} can neither be replaced nor left as it is: it has ${listFirst(decision.more)}, which this version does not know, and lacks ${listFirst(decision.less)}. If nothing that objects hold there is needed, run this with --drop-fields, or the chart with crds.dropFields.`,
      );
  }
};

const listFirst = (names: readonly string[], most = 3): string =>
  names.length <= most ? names.join(', ') : `${names.slice(0, most).join(', ')} and ${names.length - most} more`;

const waitUntilServed = async (options: InstallOptions, name: string): Promise<void> => {
  const { client, clock, signal } = options;
  for (;;) {
    const { status } = await retryTransient(options, () => client.get(customResourceDefinitions, { name }, { signal }));
    const conditions = status?.conditions ?? [];
    const is = (type: string): boolean => conditions.some((each) => each.type === type && each.status === 'True');
    if (is('Established') && is('NamesAccepted')) return;
    await sleep(clock, retryIntervalMs, signal);
    if (!signal.aborted) continue;
    const why = conditions.filter((each) => each.status !== 'True').map(({ type, message }) => `${type}: ${message}`);
    throw new Error(
      `${name} is not served: ${why.join('; ') || 'the server has not looked at it'}. See kubectl describe crd ${name}.`,
    );
  }
};

const crdGroups = ['apiextensions.k8s.io'];
const crdResources = ['customresourcedefinitions'];

/** All that bringing our definitions up to date takes: others than ours it may not even read. RBAC cannot name what is yet to be created. */
export const installRights: readonly PolicyRule[] = [
  { apiGroups: crdGroups, resources: crdResources, verbs: ['create'] },
  {
    apiGroups: crdGroups,
    resources: crdResources,
    resourceNames: definitions.map(({ metadata }) => metadata?.name ?? ''),
    verbs: ['get', 'update'],
  },
];
