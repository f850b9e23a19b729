import { catalogue, type CatalogueGroup, type CatalogueResource, schemaOf } from '../../generated/catalogue.ts';
import type { ApiRequest, ApiResponse, PlainResponse } from '../../http-messages.ts';
import type { Resource } from '../../resource.ts';
import type { Schema } from '../../schema/schema.ts';
import { testResource } from '../../testing/test-resource.ts';

/** For tests: the resources of a server with the whole catalogue and one custom resource in two versions. */

const builtIn = ({ group, version, resources }: CatalogueGroup, entry: CatalogueResource): Resource =>
  testResource(entry.name, entry.kind, {
    group,
    version,
    singular: entry.singularName,
    shortNames: entry.shortNames ?? [],
    categories: entry.categories ?? [],
    namespaced: entry.namespaced,
    verbs: entry.verbs,
    schema: schemaOf(group, version, entry.kind),
    subresources: resources
      .filter(({ name }) => name.startsWith(`${entry.name}/`))
      .map((subresource) => ({
        name: subresource.name.slice(entry.name.length + 1),
        group: subresource.group ?? group,
        version: subresource.version ?? version,
        kind: subresource.kind,
        verbs: subresource.verbs,
      })),
  });

const widgetSchema: Schema = {
  type: 'object',
  description: 'A widget',
  required: ['spec'],
  properties: { spec: { type: 'object', properties: { size: { type: 'integer', description: 'how big' } } } },
};

export const widget = (version: string): Resource =>
  testResource('widgets', 'Widget', {
    group: 'example.com',
    version,
    shortNames: ['wg'],
    categories: ['all', 'toys'],
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    custom: true,
    schema: widgetSchema,
    subresources:
      version === 'v1'
        ? [
            { name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get', 'patch', 'update'] },
            { name: 'status', group: 'example.com', version, kind: 'Widget', verbs: ['get', 'patch', 'update'] },
          ]
        : [],
  });

export const served: readonly Resource[] = [
  widget('v1beta1'),
  widget('v1'),
  ...catalogue.groups.flatMap((group) =>
    group.resources.filter(({ name }) => !name.includes('/')).map((entry) => builtIn(group, entry)),
  ),
];

export const request = (path: string, headers: Record<string, string> = {}, method = 'GET'): ApiRequest => {
  const url = new URL(path, 'https://127.0.0.1');
  return {
    method,
    path: url.pathname,
    query: url.searchParams,
    headers,
    body: new Uint8Array(),
    signal: new AbortController().signal,
  };
};

export const answerOf = (response: ApiResponse | undefined): PlainResponse => {
  if (response?.kind !== 'answer') throw new Error('this is no answer');
  return response;
};

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- each test says what it expects to read
export const jsonOf = <T>(response: ApiResponse | undefined): T => JSON.parse(String(answerOf(response).body)) as T;
