/** The parts of a custom resource definition that decide what may be stored. */
export interface Definition {
  readonly spec: {
    readonly scope?: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly {
      readonly name: string;
      readonly served?: boolean;
      readonly schema?: { readonly openAPIV3Schema?: unknown };
    }[];
  };
}

const lowerBounds = ['minimum', 'minLength', 'minItems', 'minProperties'] as const;
const upperBounds = ['maximum', 'maxLength', 'maxItems', 'maxProperties'] as const;

type Bounds = { readonly [bound in (typeof lowerBounds)[number] | (typeof upperBounds)[number]]?: number };

interface Schema extends Bounds {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly pattern?: string;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * What objects may contain by the old definition but not by the new one, a sentence each. Inside a new object, fields may be required.
 * Changed patterns and rules are not checked here: stored objects show whether they still pass.
 */
export const breakingChanges = (old: Definition, now: Definition): readonly string[] => {
  const { kind } = old.spec.names;
  const scope = old.spec.scope === now.spec.scope ? [] : [`${kind}: its scope was ${old.spec.scope}`];
  return [
    ...scope,
    ...old.spec.versions.flatMap((version) => {
      const next = now.spec.versions.find(({ name }) => name === version.name);
      const path = `${kind} ${version.name}`;
      if (next === undefined) return [`${path}: this version is gone`];
      if (version.served === true && next.served !== true) return [`${path}: this version is no longer served`];
      return changesOfSchema(path, version.schema?.openAPIV3Schema, next.schema?.openAPIV3Schema);
    }),
  ];
};

const changesOfSchema = (path: string, old: unknown, now: unknown): readonly string[] => {
  if (!isSchema(old) || !isSchema(now)) return [];
  return [...ofValue(path, old, now), ...ofFields(path, old, now), ...ofElements(path, old, now)];
};

const ofValue = (path: string, old: Schema, now: Schema): readonly string[] => {
  const found: string[] = [];
  for (const word of ['type', 'format'] as const)
    if (now[word] !== undefined && now[word] !== old[word])
      found.push(`${path}: its ${word} was ${old[word] ?? 'any'}`);
  if (old.nullable === true && now.nullable !== true) found.push(`${path}: it could be null`);
  if (now.enum !== undefined && old.enum === undefined) found.push(`${path}: it took any value`);
  for (const value of old.enum ?? [])
    if (now.enum !== undefined && !now.enum.includes(value)) found.push(`${path}: it took ${JSON.stringify(value)}`);
  if (now.pattern !== undefined && old.pattern === undefined) found.push(`${path}: it had no pattern`);
  for (const bound of lowerBounds)
    if ((now[bound] ?? -Infinity) > (old[bound] ?? -Infinity))
      found.push(`${path}: its ${bound} was ${old[bound] ?? 'none'}`);
  for (const bound of upperBounds)
    if ((now[bound] ?? Infinity) < (old[bound] ?? Infinity))
      found.push(`${path}: its ${bound} was ${old[bound] ?? 'none'}`);
  return found;
};

const ofFields = (path: string, old: Schema, now: Schema): readonly string[] => {
  const wasRequired = new Set(old.required);
  const required = (now.required ?? []).filter((name) => !wasRequired.has(name));
  const keeps = now['x-kubernetes-preserve-unknown-fields'] === true;
  return [
    ...required.map((name) => `${path}.${name}: it was not required`),
    ...Object.entries(old.properties ?? {}).flatMap(([name, field]) => {
      const next = now.properties?.[name];
      if (next !== undefined) return changesOfSchema(`${path}.${name}`, field, next);
      return keeps ? [] : [`${path}.${name}: this field is gone`];
    }),
  ];
};

const ofElements = (path: string, old: Schema, now: Schema): readonly string[] => [
  ...changesOfSchema(`${path}[]`, old.items, now.items),
  ...changesOfSchema(`${path}.*`, old.additionalProperties, now.additionalProperties),
];
