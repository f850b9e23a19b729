import type { CustomResourceDefinition } from '@tartan/api/crds';
import type { Live } from '@tartan/kube';

type Decision =
  | { readonly kind: 'create' }
  /** The server says whether that changes anything: it knows the defaults that it fills in. */
  | { readonly kind: 'update'; readonly object: Live<CustomResourceDefinition> }
  /** The one in place is newer than this program. */
  | { readonly kind: 'keep'; readonly more: readonly string[] }
  /** Neither is newer: each has what the other lacks. */
  | { readonly kind: 'refuse'; readonly more: readonly string[]; readonly less: readonly string[] };

/**
 * What becomes of one definition. It never goes back to an older one by itself: the server drops fields that a definition does not have
 * from objects as they are written, so what newer programs keep there would be lost, bit by bit. There is no number to tell older from
 * newer by, and none is needed: fields are only ever added to a version that is served, so the one with more fields is newer.
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

/** Labels and annotations of others stay, such as those by which Helm knows its own; also what the server said about it. */
const updated = (
  wanted: CustomResourceDefinition,
  found: Live<CustomResourceDefinition>,
): Live<CustomResourceDefinition> => {
  const labels = { ...found.metadata.labels, ...wanted.metadata?.labels };
  const metadata = { ...found.metadata, ...(Object.keys(labels).length > 0 && { labels }) };
  return { ...found, metadata, spec: wanted.spec };
};

/** A schema as far as it says what objects may hold. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly items?: unknown;
  readonly additionalProperties?: unknown;
  readonly enum?: readonly unknown[] | undefined;
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * All that objects may hold by a definition: versions, fields, and the values of a field that takes only some. What constrains a field
 * otherwise (patterns, lengths, rules) is left out: narrowing it later loses nothing of what is stored.
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
