import { createHash } from 'node:crypto';
import type { Clause } from '../exchange/accept.ts';
import { covers } from '../exchange/accept.ts';
import type { ApiAnswer } from '../exchange/exchange.ts';
import type { Resource, Subresource } from '../resource.ts';
import { namesOf, subresourcesOf, verbsOf } from './entries.ts';
import type { Group, GroupVersion } from './groups.ts';

/** Clients compare it with what they asked for, parameters included. */
const contentType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Whether a clause of an Accept header asks for all of discovery at once. */
export const asksForAggregated = (clause: Clause): boolean => {
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

/** Built-in kinds leave out group and version where they are those of the list. */
const responseKind = (resource: Resource, of: GroupVersionKind): GroupVersionKind => {
  const implied = !resource.custom && of.group === resource.group && of.version === resource.version;
  return { group: implied ? '' : of.group, version: implied ? '' : of.version, kind: of.kind };
};

const subresourceEntry = (resource: Resource, subresource: Subresource): unknown => ({
  subresource: subresource.name,
  responseKind: responseKind(resource, subresource),
  verbs: [...subresource.verbs].sort(),
});

const resourceEntry = (resource: Resource): unknown => ({
  resource: resource.plural,
  responseKind: responseKind(resource, resource),
  scope: resource.namespaced ? 'Namespaced' : 'Cluster',
  singularResource: resource.singular,
  verbs: verbsOf(resource),
  ...namesOf(resource),
  ...(resource.subresources.length > 0
    ? { subresources: subresourcesOf(resource).map((subresource) => subresourceEntry(resource, subresource)) }
    : {}),
});

const versionEntry = ({ version, resources }: GroupVersion): unknown => ({
  version,
  resources: resources.map(resourceEntry),
  freshness: 'Current',
});

/** Groups with all their resources in one answer, which a client asks for again with the tag it has. */
export const aggregatedAnswer = (groups: readonly Group[], ifNoneMatch: string | undefined): ApiAnswer => {
  const body = JSON.stringify({
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map((group) => ({
      metadata: group.name === '' ? {} : { name: group.name },
      versions: group.versions.map(versionEntry),
    })),
  });
  const etag = `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"`;
  const headers = { etag, vary: 'Accept', 'cache-control': 'public' };
  if (ifNoneMatch === etag) return { kind: 'answer', code: 304, headers, body: '' };
  return { kind: 'answer', code: 200, headers: { 'content-type': contentType, ...headers }, body: `${body}\n` };
};
