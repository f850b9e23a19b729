import { parseArgs } from 'node:util';
import { type CustomResourceDefinition, definitions } from '@tartan/api/crds';
import {
  type Client,
  customResourceDefinitions,
  ignoreNotFound,
  type Live,
  type PolicyRule,
  type ProcessContext,
} from '@tartan/kube';
import { type Clock, sleep } from '@tartan/kube/clock';
import { formatNameList } from '../format-name-list.ts';
import { commonOptions, type Hook, retryIntervalMs, retryTransient, runHook } from '../hooks/run-hook.ts';

const help = `Brings Tartan's custom resource definitions up to date in a cluster, and waits until they are served.

Definitions that are missing are created, others replaced; labels and annotations of others stay. Nothing is ever deleted. One
that is newer, because it has fields that this version does not know, is left as it is: going back would lose what is kept there.

  --kubeconfig=FILE   which cluster. Without it: KUBECONFIG, then the cluster whose Pod this is, then ~/.kube/config
  --drop-fields       also replace definitions that have fields which this version does not know
  --version           print the version
  --help              print this

Exit codes: 0 all are served; 1 not all are, and why; 2 an argument is invalid.
`;

const parseOptions = (argv: readonly string[]) =>
  parseArgs({
    args: [...argv],
    options: { ...commonOptions, 'drop-fields': { type: 'boolean', default: false } },
  }).values;

const hook: Hook<ReturnType<typeof parseOptions>> = {
  help,
  read: parseOptions,
  // Long enough for a restart of the API server, and less than the five minutes that Helm gives a hook.
  timeoutMs: 4 * 60_000,
  run: async ({ 'drop-fields': dropFields }, { client, clock, signal }, { stdout }) => {
    await installDefinitions({ client, clock, signal, dropFields, say: (line) => stdout(`${line}\n`) });
    return undefined;
  },
  failed: (why, { signal }) => (signal.aborted ? 'Stopped. What is installed stays, and the next run goes on.' : why),
};

/** The installer as a program. Returns the exit code. */
export const runInstall = (argv: readonly string[], surroundings: ProcessContext): Promise<number> =>
  runHook(hook, argv, surroundings);

interface InstallOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Called with a line for each definition, as soon as its outcome is known. */
  readonly say: (line: string) => void;
  /** Also replaces definitions that have fields which ours lack. The data in those fields is lost. */
  readonly dropFields: boolean;
  /** Aborts when the time is up. */
  readonly signal: AbortSignal;
  /** Default: our definitions. */
  readonly wanted?: readonly CustomResourceDefinition[];
}

/**
 * Brings the custom resource definitions of a cluster up to date.
 * Flow: create, replace or keep each one, then wait until the server serves it.
 * Guarantees: nothing is deleted; a write that conflicts is decided anew; idempotent, and safe to stop at any point.
 * Rejects with a message for users at the first definition that cannot be installed. Those before it stay installed.
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
      return `left as it is: it is newer than this program, and has ${formatNameList(decision.more, 3)} besides`;
    case 'refuse':
      throw new Error(
        `${name} can neither be replaced nor left as it is: it has ${formatNameList(decision.more, 3)}, which this version does not know, and lacks ${formatNameList(decision.less, 3)}. If nothing that objects hold there is needed, run this with --drop-fields, or the chart with crds.dropFields.`,
      );
  }
};

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

/** All that updating our definitions needs; other definitions are not readable. RBAC cannot limit `create` to names. */
export const installRights: readonly PolicyRule[] = [
  { apiGroups: crdGroups, resources: crdResources, verbs: ['create'] },
  {
    apiGroups: crdGroups,
    resources: crdResources,
    resourceNames: definitions.map(({ metadata }) => metadata?.name ?? ''),
    verbs: ['get', 'update'],
  },
];

type Decision =
  | { readonly kind: 'create' }
  /** Only the server knows whether that changes anything, because it fills in defaults. */
  | { readonly kind: 'update'; readonly object: Live<CustomResourceDefinition> }
  /** The one in place is newer than this program. */
  | { readonly kind: 'keep'; readonly more: readonly string[] }
  /** Neither is newer: each has fields that the other lacks. */
  | { readonly kind: 'refuse'; readonly more: readonly string[]; readonly less: readonly string[] };

/**
 * What happens to one definition. It is never downgraded by default: the server prunes unknown fields whenever it writes an object, so the
 * data of newer programs would be lost bit by bit. A version number is not needed: fields are only ever added to a served version, so the
 * definition with more fields is newer.
 */
export const decide = (
  wanted: CustomResourceDefinition,
  found: Live<CustomResourceDefinition> | undefined,
  { dropFields }: { readonly dropFields: boolean },
): Decision => {
  if (found === undefined) return { kind: 'create' };
  const [ours, theirs] = [schemaPaths(wanted), schemaPaths(found)];
  const more = [...theirs.difference(ours)];
  const less = [...ours.difference(theirs)];
  if (more.length > 0 && !dropFields) return less.length > 0 ? { kind: 'refuse', more, less } : { kind: 'keep', more };
  return { kind: 'update', object: updated(wanted, found) };
};

/** Keeps labels and annotations of others, such as those by which Helm recognizes its objects, and the status. */
const updated = (
  wanted: CustomResourceDefinition,
  found: Live<CustomResourceDefinition>,
): Live<CustomResourceDefinition> => {
  const labels = { ...found.metadata.labels, ...wanted.metadata?.labels };
  const metadata = { ...found.metadata, ...(Object.keys(labels).length > 0 && { labels }) };
  return { ...found, metadata, spec: wanted.spec };
};

/** The parts of a schema that say which data objects may hold. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly items?: unknown;
  readonly additionalProperties?: unknown;
  readonly enum?: readonly unknown[] | undefined;
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * All that objects may hold: versions, fields, and the values of an enum. Other constraints (patterns, lengths, rules) are left out:
 * narrowing them later loses no stored data.
 */
export const schemaPaths = ({ spec }: CustomResourceDefinition): ReadonlySet<string> =>
  new Set(spec.versions.flatMap(({ name, schema }) => [name, ...pathsUnder(name, schema?.openAPIV3Schema)]));

const pathsUnder = (path: string, schema: unknown): string[] => {
  if (!isSchema(schema)) return [];
  const { properties = {}, items, additionalProperties, enum: values = [] } = schema;
  return [
    ...Object.entries(properties).flatMap(([name, each]) => [
      `${path}.${name}`,
      ...pathsUnder(`${path}.${name}`, each),
    ]),
    ...pathsUnder(`${path}[]`, items),
    ...pathsUnder(`${path}.*`, additionalProperties),
    ...values.map((value) => `${path}=${JSON.stringify(value)}`),
  ];
};
