/** An OpenAPI v3 schema as the API server publishes it, including `$ref`. Only the fields that are read here have a type. */
export interface PublishedSchema {
  properties?: Schemas;
  items?: PublishedSchema;
  additionalProperties?: PublishedSchema | boolean;
  allOf?: PublishedSchema[];
  anyOf?: PublishedSchema[];
  oneOf?: PublishedSchema[];
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
  [keyword: string]: unknown;
}
export type Schemas = Record<string, PublishedSchema>;

interface Options {
  /** Keep `x-kubernetes-group-version-kind`. */
  keepKinds: boolean;
}

/** The schema without descriptions, keys sorted. */
export const stripDescriptions = (schema: PublishedSchema, options: Options): PublishedSchema => {
  const each = (schemas: PublishedSchema[] | undefined) => schemas?.map((item) => stripDescriptions(item, options));
  const { properties, items, additionalProperties, allOf, anyOf, oneOf } = schema;
  const structure: PublishedSchema = { ...schema };
  delete structure['description'];
  delete structure['title'];
  if (!options.keepKinds) delete structure['x-kubernetes-group-version-kind'];
  const inner = {
    properties: properties && mapValues(properties, (property) => stripDescriptions(property, options)),
    items: items && stripDescriptions(items, options),
    additionalProperties:
      typeof additionalProperties === 'object'
        ? stripDescriptions(additionalProperties, options)
        : additionalProperties,
    allOf: each(allOf),
    anyOf: each(anyOf),
    oneOf: each(oneOf),
  };
  for (const [keyword, value] of Object.entries(inner)) if (value !== undefined) structure[keyword] = value;
  return sortKeys(structure);
};

/** The schemas that are reachable from `roots` by `$ref`, sorted by name. */
export const reachableSchemas = (schemas: Schemas, roots: readonly string[]): Schemas => {
  const reached: Schemas = {};
  const waiting = [...roots];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (name in reached) continue;
    const schema = schemas[name];
    if (schema === undefined) throw new Error(`no schema ${name}, though another schema or a kind names it`);
    reached[name] = schema;
    waiting.push(...referencesOf(schema));
  }
  return sortKeys(reached);
};

export const sortKeys = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

const mapValues = <T>(record: Record<string, T>, change: (value: T) => T): Record<string, T> =>
  sortKeys(Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)])));

const prefix = '#/components/schemas/';

const referencesOf = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, field]: [string, unknown]) =>
    key === '$ref' && typeof field === 'string' && field.startsWith(prefix)
      ? [field.slice(prefix.length)]
      : referencesOf(field),
  );
};
