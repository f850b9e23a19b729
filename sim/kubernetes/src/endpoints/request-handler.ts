import type { Impersonate } from '../authentication/impersonation.ts';
import type { User } from '../authentication/user.ts';
import type { Attributes } from '../authorization/authorizer.ts';
import { attributesOf, forbiddenError, verbOf } from '../authorization/request-attributes.ts';
import { discover } from '../discovery/discovery.ts';
import { nonResource } from '../discovery/non-resource-paths.ts';
import { methodNotAllowed, pathNotFound, tooLarge } from '../errors/api-error.ts';
import type { ApiRequest, ApiResponse, Handle } from '../http-messages.ts';
import type { Resource, Subresource } from '../resource.ts';
import { pageNotFound } from '../serialization/negotiation.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import type { Core } from '../store/store.ts';
import { parseRequestInfo, type RequestInfo } from './request-info.ts';
import { respondError } from './response-writers.ts';
import * as operations from './verb-handlers.ts';

export interface HandlerDeps {
  core: Core;
  api: LoopbackClient;
  authenticate(request: ApiRequest): Promise<User>;
  impersonate: Impersonate;
  /** Called with every unexpected error: one that is not an ApiError. */
  report(error: unknown): void;
}

/** The body limit of the real server: 3 MiB. */
const largestBody = 3 * 1024 * 1024;

const assertAllowed = (api: LoopbackClient, attributes: Attributes): void => {
  const verdict = api.authorize(attributes);
  if (!verdict.allowed) throw forbiddenError(attributes, verdict.reason);
};

/** Whether the path fits the scope of the resource: `/api/v1/pods/x` and `/api/v1/namespaces/x/nodes/y` do not. */
const fitsScope = (resource: Resource, route: RequestInfo): boolean =>
  resource.namespaced ? route.namespace !== '' || route.name === '' : route.namespace === '';

const onCollections = ['list', 'create', 'deletecollection'];
const onObjects = ['get', 'update', 'patch', 'delete'];

const fitsVerb = (verb: string, route: RequestInfo): boolean =>
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
    throw methodNotAllowed();
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
      throw methodNotAllowed();
  }
};

const handleRequest = async (parts: HandlerDeps, request: ApiRequest): Promise<ApiResponse> => {
  const { core, api } = parts;
  if (request.body.length > largestBody) throw tooLarge(`Request entity too large: limit is ${largestBody}`);
  const requester = await parts.authenticate(request);
  const route = parseRequestInfo(request.path);
  const asked = attributesOf(request, route, requester);
  const user = parts.impersonate(asked, request.headers);
  assertAllowed(api, { ...asked, user });
  if (!route) {
    const found = discover(request, core.registry.all()) ?? nonResource(request, core.registry.all());
    if (!found) throw pathNotFound();
    return found;
  }
  const { group, version } = route;
  if (!core.registry.all().some((served) => served.group === group && served.version === version))
    return pageNotFound();
  const resource = core.registry.find(group, route.plural, version);
  const subresource = resource?.subresources.find(({ name }) => name === route.subresource);
  if (!resource || !fitsScope(resource, route) || (route.subresource !== '' && !subresource)) throw pathNotFound();
  return dispatch({ request, route, resource, user, core, api }, subresource);
};

/** The embedded API server without sockets. */
export const createHandle =
  (parts: HandlerDeps): Handle =>
  async (request) => {
    try {
      return await handleRequest(parts, request);
    } catch (error) {
      return respondError(error, parts.report);
    }
  };
