import dump from './kubernetes.generated.json' with { type: 'json' };
import type { Schema } from '../schema/schema.ts';
import { linker, type RawSchema } from './link.ts';

/** One entry of an `APIResourceList`: a resource, or a subresource under the name `pods/eviction`. */
export interface CatalogueResource {
  name: string;
  singularName: string;
  namespaced: boolean;
  kind: string;
  verbs: readonly string[];
  shortNames?: readonly string[];
  categories?: readonly string[];
  /** Where the body belongs, if not to the group and version of the list. */
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
  /** `gitVersion` of the server that all this was read from. */
  version: string;
  groups: readonly CatalogueGroup[];
  /** `group/version/kind` to the name of its schema. */
  kinds: Readonly<Record<string, string>>;
  schemas: Readonly<Record<string, RawSchema>>;
}

// The type that the compiler would infer from megabytes of JSON says less than this one.
const real = dump as unknown as Dump;

/** What the real server serves, so that nobody has to write it down by hand. */
export const catalogue: { version: string; groups: readonly CatalogueGroup[] } = {
  version: real.version,
  groups: real.groups,
};

/** Schemas of the built-in kinds as OpenAPI v3 publishes them, by name, with their `$ref`s. */
export const rawSchemas: Readonly<Record<string, RawSchema>> = real.schemas;

export const rawSchemaName = (group: string, version: string, kind: string): string | undefined => {
  const key = `${group}/${version}/${kind}`;
  return Object.hasOwn(real.kinds, key) ? real.kinds[key] : undefined;
};

const link = linker(real.schemas);

/** The schema of a built-in kind, its `$ref`s replaced by what they name. Linked on first use; shared, and not to be changed. */
export const schemaOf = (group: string, version: string, kind: string): Schema | undefined => {
  const name = rawSchemaName(group, version, kind);
  return name === undefined ? undefined : link(name);
};
