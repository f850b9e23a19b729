import { checkRouter, negotiate, parseAccept } from '../exchange/accept.ts';
import type { ApiRequest, ApiResponse } from '../exchange/exchange.ts';
import { answerIn, pageNotFound } from '../exchange/format.ts';
import { apiVersionOf, type Resource } from '../resource.ts';
import { ApiError, noSuchPath } from '../status/api-error.ts';
import { aggregatedAnswer, asksForAggregated } from './aggregated.ts';
import { resourceEntries } from './entries.ts';
import { groupsOf, type Group, type GroupVersion } from './groups.ts';

const answer = (request: ApiRequest, object: unknown): ApiResponse =>
  answerIn(negotiate(request.headers['accept'], { custom: true, plain: true }), 200, object);

/** What go-restful does for the paths that it routes: only GET, and only what it offers. */
const routed = (request: ApiRequest): void => {
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
  routed(request);
  const core = groups.filter(({ name }) => name === '');
  if (wantsAggregated(request)) return aggregatedAnswer(core, request.headers['if-none-match']);
  return answer(request, {
    kind: 'APIVersions',
    versions: core.flatMap(({ versions }) => versions.map(({ version }) => version)),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: request.headers['host'] ?? '' }],
  });
};

const allGroups = (request: ApiRequest, groups: readonly Group[]): ApiResponse => {
  const named = groups.filter(({ name }) => name !== '');
  if (wantsAggregated(request)) return aggregatedAnswer(named, request.headers['if-none-match']);
  return answer(request, { kind: 'APIGroupList', apiVersion: 'v1', groups: named.map(groupEntry) });
};

const oneVersion = (request: ApiRequest, group: Group | undefined, version: string): ApiResponse => {
  const found = group?.versions.find((candidate) => candidate.version === version);
  // Groups of custom resources are not known to the router, so nobody has a Status to say it with.
  if (!found && (!group || group.custom)) return pageNotFound();
  if (!found) throw noSuchPath();
  if (!found.custom) routed(request);
  return answer(request, resourceList(found));
};

/** Answers `/api`, `/apis` and what lies between those and a resource; undefined for every other path. */
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
