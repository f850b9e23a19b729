import type { CustomResourceDefinition } from '@tartan/api/crds';

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
export const knownTo = ({ spec }: CustomResourceDefinition): ReadonlySet<string> =>
  new Set(spec.versions.flatMap(({ name, schema }) => [name, ...below(name, schema?.openAPIV3Schema)]));

const below = (path: string, schema: unknown): string[] => {
  if (!isSchema(schema)) return [];
  const { properties = {}, items, additionalProperties, enum: values = [] } = schema;
  return [
    ...Object.entries(properties).flatMap(([name, each]) => [`${path}.${name}`, ...below(`${path}.${name}`, each)]),
    ...below(`${path}[]`, items),
    ...below(`${path}.*`, additionalProperties),
    ...values.map((value) => `${path}=${JSON.stringify(value)}`),
  ];
};
