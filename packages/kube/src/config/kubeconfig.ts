import * as z from 'zod/mini';
import { formatPath } from '../json.ts';
import { ConfigError, type ConfigLocation, parseYaml } from './config-file.ts';

/** Empty strings and null count as absent, as in kubectl. */
const text = z.pipe(
  z.nullish(z.string()),
  z.transform((value) => value || undefined),
);
const textOrEmpty = z.pipe(
  text,
  z.transform((value) => value ?? ''),
);
const flag = z.pipe(
  z.nullish(z.boolean()),
  z.transform((value) => value ?? false),
);
const requiredText = z.string().check(z.minLength(1, 'is missing.'));
const listOf = <Item extends z.ZodMiniType>(item: Item) =>
  z.pipe(
    z.nullish(z.array(item)),
    z.transform((items) => items ?? []),
  );

const clusterSchema = z.object({
  server: text,
  'certificate-authority-data': text,
  'certificate-authority': text,
  'insecure-skip-tls-verify': flag,
  'tls-server-name': text,
  'proxy-url': text,
  extensions: listOf(z.object({ name: text, extension: z.optional(z.unknown()) })),
});

const execSchema = z.object({
  apiVersion: text,
  command: text,
  args: listOf(textOrEmpty),
  env: listOf(z.object({ name: requiredText, value: textOrEmpty })),
  installHint: text,
  interactiveMode: text,
  provideClusterInfo: flag,
});

/** Loose: `rejectUnsupported` checks the other fields. */
const userSchema = z.looseObject({
  token: text,
  tokenFile: text,
  'client-certificate-data': text,
  'client-certificate': text,
  'client-key-data': text,
  'client-key': text,
  exec: z.pipe(
    z.nullish(execSchema),
    z.transform((value) => value ?? undefined),
  ),
});

const contextSchema = z.object({ cluster: text, user: text, namespace: text });

/** An entry with its location. */
type Located<T> = T & { readonly name: string; readonly location: ConfigLocation };
export type ClusterEntry = Located<z.output<typeof clusterSchema>>;
export type UserEntry = Located<z.output<typeof userSchema>>;
export type ContextEntry = Located<z.output<typeof contextSchema>>;
export type ExecEntry = z.output<typeof execSchema>;

const orEmpty = <Schema extends z.ZodMiniType>(schema: Schema) =>
  z.pipe(
    z.transform((value): unknown => value ?? {}),
    schema,
  );

const kubeconfigSchema = orEmpty(
  z.object({
    'current-context': text,
    clusters: listOf(z.object({ name: requiredText, cluster: orEmpty(clusterSchema) })),
    users: listOf(z.object({ name: requiredText, user: orEmpty(userSchema) })),
    contexts: listOf(z.object({ name: requiredText, context: orEmpty(contextSchema) })),
  }),
);

/** The content of one or several kubeconfig files. */
export interface Kubeconfig {
  /** Names the files in errors without a specific field. */
  file: string;
  currentContext: string | undefined;
  /** If names repeat, the first entry wins. */
  clusters: readonly ClusterEntry[];
  users: readonly UserEntry[];
  contexts: readonly ContextEntry[];
}

/** Validates the whole file, as kubectl does: a wrong type in an unused entry is an error too. */
export const parseKubeconfig = async (file: string, yaml: string): Promise<Kubeconfig> => {
  const parsed = kubeconfigSchema.safeParse(await parseYaml(file, yaml), { error: describeIssue });
  const [issue] = parsed.error?.issues ?? [];
  if (!parsed.success) throw new ConfigError({ file, field: formatPath(issue?.path ?? []) }, issue?.message ?? '');
  const { 'current-context': currentContext, clusters, users, contexts } = parsed.data;
  return {
    file,
    currentContext,
    clusters: locate(file, 'cluster', clusters),
    users: locate(file, 'user', users),
    contexts: locate(file, 'context', contexts),
  };
};

const locate = <Member extends string, Entry extends { name: string } & Record<Member, object>>(
  file: string,
  member: Member,
  entries: readonly Entry[],
): Located<Entry[Member]>[] =>
  entries.map((entry, index) => {
    const { name } = entry;
    const field = `${member}s[${index}]`;
    if (entries.findIndex((other) => other.name === name) < index)
      throw new ConfigError({ file, field: `${field}.name` }, `"${name}" is there twice. Remove one.`);
    return { ...entry[member], name, location: { file, field: `${field}.${member}` } };
  });

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
};

/** Never contains the value: it may be a secret in the wrong field. */
const describeIssue = (issue: z.core.$ZodRawIssue): string | undefined => {
  if (issue.code !== 'invalid_type') return undefined;
  const { expected, input } = issue;
  const isText = expected === 'string';
  if (isText && (input ?? undefined) === undefined) return 'is missing.';
  return `must be ${typeNames[expected]}, but is ${describeType(input)}.${isText ? ' Put quotes around it.' : ''}`;
};

const describeType = (value: unknown): string => {
  if (value === null || value === undefined) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  return typeof value === 'string' ? 'text' : `a ${typeof value}`;
};

/** Merges files by kubectl's rules: the first entry of a name wins as a whole. */
export const mergeKubeconfigs = (files: readonly Kubeconfig[]): Kubeconfig => ({
  file: files.map(({ file }) => file).join(', '),
  currentContext: files.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
  clusters: files.flatMap(({ clusters }) => clusters),
  users: files.flatMap(({ users }) => users),
  contexts: files.flatMap(({ contexts }) => contexts),
});
