import { createHash } from 'node:crypto';
import { catalogue, rawSchemaName, rawSchemas } from '../generated/catalogue.ts';
import type { Resource } from '../resource.ts';
import type { GroupVersion } from './api-groups.ts';

interface Kind {
  group: string;
  version: string;
  kind: string;
}

/** Returns the name of a kind's schema. */
type SchemaName = (kind: Kind) => string | undefined;

const methods: Readonly<Record<string, string>> = {
  get: 'get',
  list: 'get',
  create: 'post',
  update: 'put',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'delete',
};

const actions: Readonly<Record<string, string>> = { create: 'post', update: 'put' };

const query = (name: string, type = 'string'): unknown => ({ name, in: 'query', schema: { type, uniqueItems: true } });
const inPath = (name: string): unknown => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string', uniqueItems: true },
});

/** kubectl checks here for `dryRun` and `fieldValidation` before it uses either on the server. */
const parametersOf = (verb: string): unknown[] => {
  const write = [query('dryRun'), query('fieldManager'), query('fieldValidation')];
  if (verb === 'create' || verb === 'update') return write;
  if (verb === 'patch') return [...write, query('force', 'boolean')];
  if (verb === 'delete') return [query('dryRun'), query('gracePeriodSeconds', 'integer'), query('propagationPolicy')];
  if (verb === 'get') return [];
  return ['continue', 'fieldSelector', 'labelSelector', 'limit', 'resourceVersion', 'timeoutSeconds', 'watch'].map(
    (name) => query(name),
  );
};

const patchTypes = (custom: boolean): string[] => [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  ...(custom ? [] : ['application/strategic-merge-patch+json']),
];

const content = (types: readonly string[], schema: unknown): { content: object } => ({
  content: Object.fromEntries(types.map((type) => [type, { schema }])),
});

const operation = (resource: Resource, verb: string, kind: Kind, schemaName: SchemaName): unknown => {
  const name = schemaName(kind);
  const schema = name === undefined ? { type: 'object' } : { $ref: `#/components/schemas/${name}` };
  const bodies = ['application/json', 'application/yaml'];
  const requestBody =
    verb === 'patch'
      ? content(patchTypes(resource.custom), { type: 'object' })
      : verb === 'create' || verb === 'update'
        ? content(['*/*'], schema)
        : undefined;
  return {
    parameters: parametersOf(verb),
    ...(requestBody ? { requestBody } : {}),
    responses: { '200': { description: 'OK', ...content(bodies, schema) } },
    'x-kubernetes-action': actions[verb] ?? verb,
    'x-kubernetes-group-version-kind': { group: kind.group, version: kind.version, kind: kind.kind },
  };
};

const pathItem = (
  resource: Resource,
  verbs: readonly string[],
  kind: Kind,
  parameters: readonly string[],
  schemaName: SchemaName,
): unknown => {
  const item: Record<string, unknown> = { parameters: parameters.map(inPath) };
  for (const verb of verbs) {
    const method = methods[verb];
    if (method !== undefined) item[method] = operation(resource, verb, kind, schemaName);
  }
  return item;
};

/** The paths of a resource and its subresources, with what clients read: operations, kinds and parameters. */
const pathsOf = (resource: Resource, schemaName: SchemaName): Record<string, unknown> => {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const collection = `${root}${resource.namespaced ? '/namespaces/{namespace}' : ''}/${resource.plural}`;
  const scope = resource.namespaced ? ['namespace'] : [];
  const served = (verbs: readonly string[]): string[] => verbs.filter((verb) => resource.verbs.includes(verb));
  const paths: Record<string, unknown> = {
    [collection]: pathItem(resource, served(['list', 'create', 'deletecollection']), resource, scope, schemaName),
  };
  if (resource.namespaced && resource.verbs.includes('list')) {
    paths[`${root}/${resource.plural}`] = pathItem(resource, ['list'], resource, [], schemaName);
  }
  const named = served(['get', 'update', 'patch', 'delete']);
  if (named.length > 0) {
    paths[`${collection}/{name}`] = pathItem(resource, named, resource, [...scope, 'name'], schemaName);
  }
  for (const subresource of resource.subresources) {
    paths[`${collection}/{name}/${subresource.name}`] = pathItem(
      resource,
      subresource.verbs,
      subresource,
      [...scope, 'name'],
      schemaName,
    );
  }
  return paths;
};

interface OpenApiDocument {
  json: string;
  hash: string;
}

const reference = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` });

const objectMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** `com.example.v1.Widget` for a Widget of example.com/v1. */
const customSchemaName = (resource: Resource): string =>
  [...resource.group.split('.').reverse(), resource.version, resource.kind].join('.');

/** Name of the schema of a kind that a resource or one of its subresources accepts or returns. */
const schemaName = (resource: Resource, of: { group: string; version: string; kind: string }): string | undefined =>
  resource.custom && of.group === resource.group && of.kind === resource.kind
    ? customSchemaName(resource)
    : rawSchemaName(of.group, of.version, of.kind);

/** The schema of the custom resource, with the fields that every object has. */
const customSchema = ({ schema, group, version, kind }: Resource): unknown => ({
  ...schema,
  type: 'object',
  properties: {
    ...schema?.properties,
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { allOf: [reference(objectMeta)] },
  },
  'x-kubernetes-group-version-kind': [{ group, kind, version }],
});

/** Adds the schemas that `text` references, recursively. */
const addReferenced = (schemas: Record<string, unknown>, text: string): void => {
  for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    const schema = rawSchemas[name];
    if (schema === undefined || Object.hasOwn(schemas, name)) continue;
    schemas[name] = schema;
    addReferenced(schemas, JSON.stringify(schema));
  }
};

const build = (served: GroupVersion): OpenApiDocument => {
  const schemas: Record<string, unknown> = {};
  for (const resource of served.resources) {
    if (resource.custom) schemas[customSchemaName(resource)] = customSchema(resource);
  }
  const paths = Object.assign(
    {},
    ...served.resources.map((resource) => pathsOf(resource, (of) => schemaName(resource, of))),
  );
  addReferenced(schemas, JSON.stringify([paths, schemas]));
  const json = JSON.stringify({
    openapi: '3.0.0',
    info: served.custom
      ? { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' }
      : { title: 'Kubernetes', version: catalogue.version },
    paths,
    components: { schemas },
  });
  return { json, hash: createHash('sha512').update(json).digest('hex').toUpperCase() };
};

// Cached: kubectl reads the index before nearly every command, and the index contains the hash of every document.
const built = new WeakMap<Resource, { of: readonly Resource[]; document: OpenApiDocument }>();

/** The OpenAPI v3 document of a group version. */
export const openApiDocument = (served: GroupVersion): OpenApiDocument => {
  const [key] = served.resources;
  if (!key) return build(served);
  const known = built.get(key);
  const same =
    known?.of.length === served.resources.length &&
    known.of.every((resource, index) => resource === served.resources[index]);
  if (known && same) return known.document;
  const document = build(served);
  built.set(key, { of: served.resources, document });
  return document;
};
