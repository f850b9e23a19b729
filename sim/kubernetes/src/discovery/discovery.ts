import { createHash } from 'node:crypto';
import { ApiError, pathNotFound } from '../errors/api-error.ts';
import type { ApiRequest, ApiResponse, PlainResponse } from '../http-messages.ts';
import { apiVersionOf, type Resource, type Subresource } from '../resource.ts';
import {
  checkRouter,
  type Clause,
  covers,
  encodeResponse,
  negotiate,
  pageNotFound,
  parseAccept,
} from '../serialization/negotiation.ts';
import {
  type Group,
  groupsOf,
  type GroupVersion,
  namesOf,
  resourceEntries,
  subresourcesOf,
  verbsOf,
} from './api-groups.ts';

/** Clients compare it with the type that they asked for, including the parameters. */
const contentType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Whether a clause of an Accept header asks for aggregated discovery. */
const asksForAggregated = (clause: Clause): boolean => {
  const { g, v, as } = clause.parameters;
  return (
    covers(clause, 'application/json') && g === 'apidiscovery.k8s.io' && v === 'v2' && as === 'APIGroupDiscoveryList'
  );
};

interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

/** Built-in kinds omit group and version if they are those of the list. */
const responseKind = (resource: Resource, of: GroupVersionKind): GroupVersionKind => {
  const implied = !resource.custom && of.group === resource.group && of.version === resource.version;
  return { group: implied ? '' : of.group, version: implied ? '' : of.version, kind: of.kind };
};

const aggregatedSubresource = (resource: Resource, subresource: Subresource): unknown => ({
  subresource: subresource.name,
  responseKind: responseKind(resource, subresource),
  verbs: [...subresource.verbs].sort(),
});

const aggregatedResource = (resource: Resource): unknown => ({
  resource: resource.plural,
  responseKind: responseKind(resource, resource),
  scope: resource.namespaced ? 'Namespaced' : 'Cluster',
  singularResource: resource.singular,
  verbs: verbsOf(resource),
  ...namesOf(resource),
  ...(resource.subresources.length > 0
    ? { subresources: subresourcesOf(resource).map((subresource) => aggregatedSubresource(resource, subresource)) }
    : {}),
});

const aggregatedVersion = ({ version, resources }: GroupVersion): unknown => ({
  version,
  resources: resources.map(aggregatedResource),
  freshness: 'Current',
});

/** Aggregated discovery: all groups with their resources. Supports ETag and If-None-Match. */
const aggregatedResponse = (groups: readonly Group[], ifNoneMatch: string | undefined): PlainResponse => {
  const body = JSON.stringify({
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map((group) => ({
      metadata: group.name === '' ? {} : { name: group.name },
      versions: group.versions.map(aggregatedVersion),
    })),
  });
  const etag = `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"`;
  const headers = { etag, vary: 'Accept', 'cache-control': 'public' };
  if (ifNoneMatch === etag) return { kind: 'answer', code: 304, headers, body: '' };
  return { kind: 'answer', code: 200, headers: { 'content-type': contentType, ...headers }, body: `${body}\n` };
};

const answer = (request: ApiRequest, object: unknown): ApiResponse =>
  encodeResponse(negotiate(request.headers['accept'], { custom: true, plain: true }), 200, object);

/** As go-restful handles its routes: only GET, and only supported media types. */
const assertRouted = (request: ApiRequest): void => {
  if (request.method !== 'GET') {
    throw new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
  }
  checkRouter(request.headers['accept']);
};

const wantsAggregated = (request: ApiRequest): boolean => {
  const clauses = parseAccept(request.headers['accept'] ?? '');
  const aggregated = clauses.findIndex(asksForAggregated);
  const plain = clauses.findIndex(({ parameters: { as, g, v } }) => (as ?? g ?? v) === undefined);
  return aggregated !== -1 && (plain === -1 || aggregated < plain);
};

const versionEntry = ({ group, version }: GroupVersion): { groupVersion: string; version: string } => ({
  groupVersion: apiVersionOf({ group, version }),
  version,
});

const groupEntry = (group: Group): object => ({
  name: group.name,
  versions: group.versions.map(versionEntry),
  preferredVersion: group.versions.slice(0, 1).map(versionEntry)[0],
});

const resourceList = ({ group, version, resources }: GroupVersion): object => ({
  kind: 'APIResourceList',
  ...(group === '' ? {} : { apiVersion: 'v1' }),
  groupVersion: apiVersionOf({ group, version }),
  resources: resources.flatMap(resourceEntries),
});

const coreVersions = (request: ApiRequest, groups: readonly Group[]): ApiResponse => {
  assertRouted(request);
  const core = groups.filter(({ name }) => name === '');
  if (wantsAggregated(request)) return aggregatedResponse(core, request.headers['if-none-match']);
  return answer(request, {
    kind: 'APIVersions',
    versions: core.flatMap(({ versions }) => versions.map(({ version }) => version)),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: request.headers['host'] ?? '' }],
  });
};

const allGroups = (request: ApiRequest, groups: readonly Group[]): ApiResponse => {
  const named = groups.filter(({ name }) => name !== '');
  if (wantsAggregated(request)) return aggregatedResponse(named, request.headers['if-none-match']);
  return answer(request, { kind: 'APIGroupList', apiVersion: 'v1', groups: named.map(groupEntry) });
};

const oneVersion = (request: ApiRequest, group: Group | undefined, version: string): ApiResponse => {
  const found = group?.versions.find((candidate) => candidate.version === version);
  // The router does not know groups of custom resources, so this 404 has no Status.
  if (!found && (!group || group.custom)) return pageNotFound();
  if (!found) throw pathNotFound();
  if (!found.custom) assertRouted(request);
  return answer(request, resourceList(found));
};

/** Handles `/api`, `/apis` and the paths down to a group version; undefined for every other path. */
export const discover = (request: ApiRequest, resources: readonly Resource[]): ApiResponse | undefined => {
  const [root = '', ...rest] = request.path.replace(/^\//, '').replace(/\/$/, '').split('/');
  const [first, second] = rest;
  if (root === 'api') {
    if (rest.length > 1) return undefined;
    const groups = groupsOf(resources);
    if (first === undefined) return coreVersions(request, groups);
    const core = groups.find(({ name }) => name === '');
    return oneVersion(request, core ?? { name: '', versions: [], custom: false }, first);
  }
  if (root !== 'apis' || rest.length > 2) return undefined;
  const groups = groupsOf(resources);
  if (first === undefined) return allGroups(request, groups);
  const group = groups.find(({ name }) => name === first && name !== '');
  if (second !== undefined) return oneVersion(request, group, second);
  return group ? answer(request, { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(group) }) : pageNotFound();
};
