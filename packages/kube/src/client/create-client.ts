import { isRecord, listIn, numberIn, textIn } from '../json.ts';
import type { KubeObject, Live, Resource } from '../objects/object.ts';
import type { Transport } from '../transport/transport.ts';
import type { Client, DeleteOptions, Patch, WriteOptions } from './client.ts';
import { list } from './list.ts';
import { parseObject } from './parse-object.ts';
import { describeRequest, type Query, requestPath, type Target } from './request-path.ts';
import { type ClientOptions, createRestClient, type RestClient } from './rest-client.ts';
import { watch } from './watch.ts';

const patchTypes: Readonly<Record<Patch['type'], string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

/**
 * Whether a finalizer or a grace period delays the deletion. Some kinds response a DELETE with the deleted object's last state,
 * so an object in the response does not mean that it still exists.
 */
const isTerminating = (object: unknown): boolean => {
  const metadata: unknown = isRecord(object) ? object['metadata'] : undefined;
  if (textIn(metadata, 'deletionTimestamp') === undefined) return false;
  const grace = numberIn(metadata, 'deletionGracePeriodSeconds') ?? 0;
  const spec: unknown = isRecord(object) ? object['spec'] : undefined;
  // Namespaces have their finalizers in the spec.
  return grace > 0 || listIn(metadata, 'finalizers').length > 0 || listIn(spec, 'finalizers').length > 0;
};

const nameIn = (body: unknown): string | undefined => textIn(isRecord(body) ? body['metadata'] : undefined, 'name');

/** A dry-run create returns no resource version; Go's types represent that as an empty string. */
const withVersion = (response: unknown): unknown => {
  const metadata: unknown = isRecord(response) ? response['metadata'] : undefined;
  if (isRecord(metadata)) metadata['resourceVersion'] ??= '';
  return response;
};

export const createClientFrom = (rest: RestClient): Client => {
  const write = async <T extends KubeObject>(
    resource: Resource<T>,
    verb: 'create' | 'update' | 'patch',
    target: Target,
    body: object,
    options: WriteOptions,
    contentType?: string,
  ): Promise<Live<T>> => {
    const what = describeRequest(verb, resource, { name: nameIn(body), ...target });
    const method = ({ create: 'POST', update: 'PUT', patch: 'PATCH' } as const)[verb];
    const path = requestPath(what, resource, target, writeQuery(options), verb === 'create');
    const type = contentType === undefined ? {} : { contentType };
    const response = await rest.request({ what, method, path, body, ...type }, options);
    return parseObject(what, resource, options.dryRun === true ? withVersion(response) : response);
  };

  return {
    get: async (resource, { namespace, name }, options = {}) => {
      const target = { namespace, name, subresource: options.subresource };
      const what = describeRequest('get', resource, target);
      const response = await rest.request({ what, method: 'GET', path: requestPath(what, resource, target) }, options);
      return parseObject(what, resource, response);
    },
    list: async (resource, options = {}) => list(rest, resource, options),
    watch: (resource, options) => watch(rest, resource, options),
    create: async (resource, object, options = {}) => {
      const { namespace, name } = object.metadata ?? {};
      const { subresource } = options;
      const target = subresource === undefined ? { namespace } : { namespace, name: name ?? '', subresource };
      return write(resource, 'create', target, object, options);
    },
    update: async (resource, object, options = {}) => {
      const { namespace, name }: { namespace?: string; name: string } = object.metadata;
      return write(resource, 'update', { namespace, name, subresource: options.subresource }, object, options);
    },
    patch: async (resource, { namespace, name }, patch, options = {}) => {
      const target = { namespace, name, subresource: options.subresource };
      return write(resource, 'patch', target, patch.body, options, patchTypes[patch.type]);
    },
    delete: async (resource, { namespace, name }, options = {}) => {
      const target = { namespace, name };
      const what = describeRequest('delete', resource, target);
      const path = requestPath(what, resource, target);
      const response = await rest.request({ what, method: 'DELETE', path, body: deleteBody(options) }, options);
      return isTerminating(response) ? parseObject(what, resource, response) : undefined;
    },
  };
};

export const createClient = (transport: Transport, options: ClientOptions): Client =>
  createClientFrom(createRestClient(transport, options));

/** Query parameters of the write options. */

export const writeQuery = ({ dryRun, fieldValidation = 'Strict' }: WriteOptions): Query => ({
  fieldValidation,
  dryRun: dryRun === true ? 'All' : undefined,
});

export const deleteBody = (options: DeleteOptions): object => {
  const { gracePeriodSeconds, preconditions, dryRun } = options;
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    gracePeriodSeconds,
    preconditions,
    dryRun: dryRun === true ? ['All'] : undefined,
  };
};
