import { join } from 'node:path';
import { getJson } from '../api-request.ts';
import type { Access } from '../control-plane/kubeconfig.ts';
import { reachableSchemas, type Schemas, sortKeys, stripDescriptions } from './schemas.ts';
import { bodyKinds, servedResources } from './served-kinds.ts';

/** The file from which the embedded server reads its built-in kinds. */
export const cataloguePath = join(
  import.meta.dirname,
  '../../../../sim/kubernetes/src/generated/kubernetes.generated.json',
);

/** The text of that file, from a running API server. */
export const dumpCatalogue = async (access: Access): Promise<string> =>
  formatCatalogue(await readCatalogue(<T>(path: string) => getJson<T>(access, path)));

export interface Catalogue {
  version: string;
  groups: { group: string; version: string; resources: ApiResource[] }[];
  /** `group/version/Kind` (the core group is empty) → name of its schema. */
  kinds: Record<string, string>;
  schemas: Schemas;
}

/** An entry of APIResourceList. */
export interface ApiResource {
  name: string;
  kind: string;
  group?: string;
  version?: string;
  storageVersionHash?: string;
  [field: string]: unknown;
}

/** GETs a path of an API server and returns the decoded JSON. */
export type GetJson = <T>(path: string) => Promise<T>;

/** Reads from a running API server what the embedded one needs for the kinds in `served-kinds.ts`. */
export const readCatalogue = async (get: GetJson): Promise<Catalogue> => {
  const { gitVersion } = await get<{ gitVersion: string }>('/version');
  const groups: Catalogue['groups'] = [];
  const kinds: Record<string, string> = {};
  const found: Schemas = {};
  const documents = new Set([...Object.keys(servedResources), ...bodyKinds.map((body) => body.groupVersion)]);

  for (const groupVersion of Object.keys(servedResources)) {
    groups.push({ ...splitGroupVersion(groupVersion), resources: await readResources(get, groupVersion) });
  }
  for (const groupVersion of documents) {
    for (const [name, schema] of Object.entries(await readSchemas(get, groupVersion))) {
      const known = found[name];
      if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
        throw new Error(`the OpenAPI documents of the API server disagree about ${name} (last read: ${groupVersion})`);
      }
      found[name] = schema;
    }
  }

  const byKind = schemasByKind(found);
  for (const { group, version, resources } of groups) {
    for (const resource of resources) {
      const kind = `${resource.group ?? group}/${resource.version ?? version}/${resource.kind}`;
      const schema = byKind[kind];
      // The options of log, exec, attach and port-forward are query parameters and have no schema.
      if (schema !== undefined) kinds[kind] = schema;
      else if (!resource.name.includes('/'))
        throw new Error(`the API server lists ${resource.name} but has no schema for ${kind}`);
    }
  }
  for (const body of bodyKinds) {
    const kind = 'kind' in body ? body.kind : Object.entries(byKind).find(([, name]) => name === body.schema)?.[0];
    if (kind === undefined)
      throw new Error(`the OpenAPI document of ${body.groupVersion} does not describe ${body.schema}`);
    kinds[kind] = body.schema;
  }
  return {
    version: gitVersion,
    groups,
    kinds: sortKeys(kinds),
    schemas: reachableSchemas(found, Object.values(kinds)),
  };
};

/** One line per resource and per schema, so that a new Kubernetes version can be reviewed as a diff. */
export const formatCatalogue = ({ version, groups, kinds, schemas }: Catalogue): string => {
  const groupTexts = groups.map(
    (group) =>
      `    {\n      "group": ${JSON.stringify(group.group)},\n      "version": ${JSON.stringify(group.version)},\n      "resources": [\n` +
      `${group.resources.map((resource) => `        ${JSON.stringify(resource)}`).join(',\n')}\n      ]\n    }`,
  );
  const lines = (record: Record<string, unknown>) =>
    Object.entries(record)
      .map(([key, value]) => `    ${JSON.stringify(key)}: ${JSON.stringify(value)}`)
      .join(',\n');
  return (
    `{\n  "version": ${JSON.stringify(version)},\n  "groups": [\n${groupTexts.join(',\n')}\n  ],\n` +
    `  "kinds": {\n${lines(kinds)}\n  },\n  "schemas": {\n${lines(schemas)}\n  }\n}\n`
  );
};

const splitGroupVersion = (groupVersion: string): { group: string; version: string } => {
  const [first = '', second] = groupVersion.split('/');
  return second === undefined ? { group: '', version: first } : { group: first, version: second };
};

const pathOf = (groupVersion: string): string =>
  groupVersion.includes('/') ? `apis/${groupVersion}` : `api/${groupVersion}`;

const readResources = async (get: GetJson, groupVersion: string): Promise<ApiResource[]> => {
  const wanted = Object.entries(servedResources[groupVersion] ?? {}).flatMap(([plural, subresources]) => [
    plural,
    ...subresources.map((subresource) => `${plural}/${subresource}`),
  ]);
  const { resources } = await get<{ resources: ApiResource[] }>(`/${pathOf(groupVersion)}`);
  const missing = wanted.filter((name) => !resources.some((resource) => resource.name === name));
  if (missing.length > 0) throw new Error(`the API server does not serve ${missing.join(', ')} in ${groupVersion}`);
  return resources
    .filter((resource) => wanted.includes(resource.name))
    .map((resource) => {
      // Internal to the server's storage.
      delete resource.storageVersionHash;
      return resource;
    });
};

const readSchemas = async (get: GetJson, groupVersion: string): Promise<Schemas> => {
  const document = await get<{ components: { schemas: Schemas } }>(`/openapi/v3/${pathOf(groupVersion)}`);
  return Object.fromEntries(
    Object.entries(document.components.schemas).map(([name, schema]) => [
      name,
      stripDescriptions(schema, { keepKinds: !name.startsWith('io.k8s.apimachinery.') }),
    ]),
  );
};

const schemasByKind = (schemas: Schemas): Record<string, string> => {
  const names: Record<string, string> = {};
  for (const [name, schema] of Object.entries(schemas)) {
    for (const { group, version, kind } of schema['x-kubernetes-group-version-kind'] ?? [])
      names[`${group}/${version}/${kind}`] = name;
  }
  return names;
};
