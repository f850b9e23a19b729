import { createHash } from 'node:crypto';
import { catalogue, rawSchemaName, rawSchemas } from '../generated/catalogue.ts';
import type { Resource } from '../resource.ts';
import type { GroupVersion } from './groups.ts';
import { pathsOf } from './openapi-paths.ts';

export interface OpenApiDocument {
  json: string;
  hash: string;
}

const reference = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` });

const objectMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** `com.example.v1.Widget` for a Widget of example.com/v1. */
const customSchemaName = (resource: Resource): string =>
  [...resource.group.split('.').reverse(), resource.version, resource.kind].join('.');

/** Name of the schema of a kind that a resource or one of its subresources reads and answers. */
const schemaName = (resource: Resource, of: { group: string; version: string; kind: string }): string | undefined =>
  resource.custom && of.group === resource.group && of.kind === resource.kind
    ? customSchemaName(resource)
    : rawSchemaName(of.group, of.version, of.kind);

/** What the author of a custom resource wrote, and what every object has besides. */
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

/** Adds the schemas that `text` refers to, and those that they refer to. */
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

// kubectl reads the index before nearly every command, and the index holds the hash of every document.
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
