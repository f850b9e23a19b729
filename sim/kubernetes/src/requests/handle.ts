import type { Api } from '../api/api.ts';
import type { Core } from '../api/core.ts';
import type { Attributes } from '../auth/authorizer.ts';
import type { User } from '../auth/user.ts';
import { discover } from '../discovery/discovery.ts';
import { nonResource } from '../discovery/non-resource.ts';
import type { ApiRequest, ApiResponse, Handle } from '../exchange/exchange.ts';
import { pageNotFound } from '../exchange/format.ts';
import type { Resource, Subresource } from '../resource.ts';
import { ApiError, methodRefused, noSuchPath, tooLarge } from '../status/api-error.ts';
import * as operations from './operations.ts';
import { respondError } from './respond.ts';
import { parseRoute, type Route } from './route.ts';

export interface HandleParts {
  core: Core;
  api: Api;
  authenticate(request: ApiRequest): Promise<User>;
  /** Told of every defect: an error that is not an answer. */
  report(error: unknown): void;
}

/** What the real server reads of a body: 3 MiB. */
const largestBody = 3 * 1024 * 1024;

const yes = (value: string | null): boolean => value !== null && !['', 'false', '0'].includes(value);

/** What a request wants to do, in the words of authorization. */
const verbOf = (request: ApiRequest, route: Route): string => {
  const named = route.name !== '';
  switch (request.method) {
    case 'GET':
    case 'HEAD':
      if (yes(request.query.get('watch')) && route.subresource === '') return 'watch';
      return named ? 'get' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return named ? 'delete' : 'deletecollection';
    default:
      return request.method.toLowerCase();
  }
};

/** exec, attach and port-forward do something even when the client asks by GET, so the right to get a Pod is not enough. */
const connects = ['exec', 'attach', 'portforward', 'proxy'];

const attributesOf = (request: ApiRequest, route: Route | undefined, user: User): Attributes => {
  const verb = route ? verbOf(request, route) : request.method.toLowerCase();
  return {
    user,
    verb: route && connects.includes(route.subresource) ? 'create' : verb,
    ...(route ? {} : { nonResourcePath: request.path }),
    group: route?.group ?? '',
    version: route?.version ?? '',
    resource: route?.plural ?? '',
    subresource: route?.subresource ?? '',
    namespace: route?.namespace ?? '',
    name: route?.name ?? '',
    fieldSelector: request.query.get('fieldSelector') ?? '',
    labelSelector: request.query.get('labelSelector') ?? '',
  };
};

const subjectText = (attributes: Attributes): string => {
  if (attributes.nonResourcePath !== undefined) return `cannot ${attributes.verb} path "${attributes.nonResourcePath}"`;
  const resource = attributes.subresource ? `${attributes.resource}/${attributes.subresource}` : attributes.resource;
  const scope = attributes.namespace ? `in the namespace "${attributes.namespace}"` : 'at the cluster scope';
  return `cannot ${attributes.verb} resource "${resource}" in API group "${attributes.group}" ${scope}`;
};

const assertAllowed = (api: Api, attributes: Attributes): void => {
  const verdict = api.authorize(attributes);
  if (verdict.allowed) return;
  const { group, resource, name, user, nonResourcePath } = attributes;
  const what =
    nonResourcePath === undefined
      ? `${group === '' ? resource : `${resource}.${group}`}${name ? ` "${name}"` : ''} is forbidden`
      : 'forbidden';
  const because = verdict.reason === '' ? '' : `: ${verdict.reason}`;
  throw new ApiError(403, 'Forbidden', `${what}: User "${user.name}" ${subjectText(attributes)}${because}`, {
    ...(name ? { name } : {}),
    ...(group ? { group } : {}),
    ...(resource ? { kind: resource } : {}),
  });
};

/** Whether the path fits the resource's scope: `/api/v1/pods/x` and `/api/v1/namespaces/x/nodes/y` name nothing. */
const fitsScope = (resource: Resource, route: Route): boolean =>
  resource.namespaced ? route.namespace !== '' || route.name === '' : route.namespace === '';

const onCollections = ['list', 'create', 'deletecollection'];
const onObjects = ['get', 'update', 'patch', 'delete'];

const fitsVerb = (verb: string, route: Route): boolean =>
  route.name === '' ? !onObjects.includes(verb) : !onCollections.includes(verb);

const dispatch = (
  operation: operations.Operation,
  subresource: Subresource | undefined,
): ApiResponse | Promise<ApiResponse> => {
  const { request, resource, route } = operation;
  if (subresource) return operations.onSubresource(operation, subresource);
  const verb = verbOf(request, route);
  const acrossNamespaces = resource.namespaced && route.namespace === '' && verb !== 'list' && verb !== 'watch';
  if (!resource.verbs.includes(verb) || acrossNamespaces || !fitsVerb(verb, route)) {
    throw methodRefused();
  }
  switch (verb) {
    case 'get':
      return operations.get(operation);
    case 'list':
      return operations.list(operation);
    case 'watch':
      return operations.watch(operation);
    case 'create':
      return operations.create(operation);
    case 'update':
      return operations.update(operation);
    case 'patch':
      return operations.patch(operation);
    case 'delete':
      return operations.remove(operation);
    case 'deletecollection':
      return operations.removeCollection(operation);
    default:
      throw methodRefused();
  }
};

const answer = async (parts: HandleParts, request: ApiRequest): Promise<ApiResponse> => {
  const { core, api } = parts;
  if (request.body.length > largestBody) throw tooLarge(`Request entity too large: limit is ${largestBody}`);
  const user = await parts.authenticate(request);
  const route = parseRoute(request.path);
  assertAllowed(api, attributesOf(request, route, user));
  if (!route) {
    const found = discover(request, core.registry.all()) ?? nonResource(request, core.registry.all());
    if (!found) throw noSuchPath();
    return found;
  }
  const { group, version } = route;
  if (!core.registry.all().some((served) => served.group === group && served.version === version))
    return pageNotFound();
  const resource = core.registry.find(group, route.plural, version);
  const subresource = resource?.subresources.find(({ name }) => name === route.subresource);
  if (!resource || !fitsScope(resource, route) || (route.subresource !== '' && !subresource)) throw noSuchPath();
  return dispatch({ request, route, resource, user, core, api }, subresource);
};

/** The embedded API server without sockets. */
export const createHandle =
  (parts: HandleParts): Handle =>
  async (request) => {
    try {
      return await answer(parts, request);
    } catch (error) {
      return respondError(error, parts.report);
    }
  };
