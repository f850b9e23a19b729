import type { Json } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import dump from './kubernetes.generated.json' with { type: 'json' };

/** A schema of an OpenAPI document: children may be `{ $ref }`, or `{ allOf: [{ $ref }] }` with siblings. */
export type RawSchema = { readonly [key: string]: Json };

const prefix = '#/components/schemas/';
const single = ['items', 'additionalProperties', 'not'] as const;
const several = ['allOf', 'anyOf', 'oneOf'] as const;

const isSchema = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const referenced = (raw: RawSchema): string | undefined => {
  const reference = raw['$ref'];
  return typeof reference === 'string' && reference.startsWith(prefix) ? reference.slice(prefix.length) : undefined;
};

/**
 * Returns a function from a schema's name to the schema with every `$ref` resolved. Recursive schemas become cycles. OpenAPI 3.0 allows no
 * siblings of `$ref`, so Kubernetes writes `{ default, allOf: [{ $ref }] }`: both become one schema, in which the siblings win.
 * Each node is linked once and registered before its children, which ends the recursion.
 */
export const linker = (schemas: Readonly<Record<string, RawSchema>>): ((name: string) => Schema | undefined) => {
  const linked = new WeakMap<RawSchema, Schema>();

  const flat = (raw: RawSchema): RawSchema => {
    const { allOf, ...siblings } = raw;
    const only = Array.isArray(allOf) && allOf.length === 1 ? allOf[0] : undefined;
    const name = isSchema(only) ? referenced(only) : undefined;
    const target = name === undefined ? undefined : schemas[name];
    return target ? { ...flat(target), ...siblings } : raw;
  };

  const linkChild = (value: Json | undefined): Schema | Json | undefined => (isSchema(value) ? link(value) : value);

  const link = (raw: RawSchema): Schema => {
    const name = referenced(raw);
    const target = name === undefined ? undefined : schemas[name];
    if (target && target !== raw) return link(target);
    const known = linked.get(raw);
    if (known) return known;
    const schema: Record<string, unknown> = {};
    linked.set(raw, schema);
    const { 'x-kubernetes-group-version-kind': _, ...node } = flat(raw);
    Object.assign(schema, node);
    for (const key of single) if (key in node) schema[key] = linkChild(node[key]);
    for (const key of several) {
      const parts = node[key];
      if (Array.isArray(parts)) schema[key] = parts.map(linkChild);
    }
    if (isSchema(node['properties'])) {
      schema['properties'] = Object.fromEntries(
        Object.entries(node['properties']).map(([field, value]) => [field, linkChild(value)]),
      );
    }
    return schema;
  };

  return (name) => {
    const raw = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    return raw && link(raw);
  };
};

/** One entry of an `APIResourceList`: a resource, or a subresource under the name `pods/eviction`. */
export interface CatalogueResource {
  name: string;
  singularName: string;
  namespaced: boolean;
  kind: string;
  verbs: readonly string[];
  shortNames?: readonly string[];
  categories?: readonly string[];
  /** Group and version of the body, if they are not those of the list. */
  group?: string;
  version?: string;
  storageVersionHash?: string;
}

export interface CatalogueGroup {
  group: string;
  version: string;
  resources: readonly CatalogueResource[];
}

interface Dump {
  /** `gitVersion` of the server that the dump comes from. */
  version: string;
  groups: readonly CatalogueGroup[];
  /** `group/version/kind` to the name of its schema. */
  kinds: Readonly<Record<string, string>>;
  schemas: Readonly<Record<string, RawSchema>>;
}

// The type that the compiler would infer from megabytes of JSON says less than this one.
const real = dump as unknown as Dump;

/** What the real server serves. */
export const catalogue: { version: string; groups: readonly CatalogueGroup[] } = {
  version: real.version,
  groups: real.groups,
};

/** Schemas of the built-in kinds as published in OpenAPI v3, by name, with their `$ref`s. */
export const rawSchemas: Readonly<Record<string, RawSchema>> = real.schemas;

export const rawSchemaName = (group: string, version: string, kind: string): string | undefined => {
  const key = `${group}/${version}/${kind}`;
  return Object.hasOwn(real.kinds, key) ? real.kinds[key] : undefined;
};

const link = linker(real.schemas);

/** The schema of a built-in kind with resolved `$ref`s. Linked on first use; shared, do not modify. */
export const schemaOf = (group: string, version: string, kind: string): Schema | undefined => {
  const name = rawSchemaName(group, version, kind);
  return name === undefined ? undefined : link(name);
};
