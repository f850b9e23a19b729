import type { Clock } from '@tartan/kube/clock';
import { ApiError } from '../errors/api-error.ts';
import { catalogue } from '../generated/catalogue.ts';
import type { ApiRequest, ApiResponse, PlainResponse } from '../http-messages.ts';
import type { Resource } from '../resource.ts';
import { checkRouter, covers, pageNotFound, parseAccept, textResponse } from '../serialization/negotiation.ts';
import { groupsOf, type GroupVersion } from './api-groups.ts';
import { openApiDocument } from './openapi.ts';

const indented = (object: unknown): PlainResponse => ({
  kind: 'answer',
  code: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(object, undefined, 2),
});

const versionPath = ({ group, version }: GroupVersion): string =>
  group === '' ? `api/${version}` : `apis/${group}/${version}`;

const groupVersions = (resources: readonly Resource[]): GroupVersion[] =>
  groupsOf(resources).flatMap(({ versions }) => versions);

const checks = ['healthz', 'livez', 'readyz'];

const paths = (resources: readonly Resource[]): PlainResponse => {
  const groups = groupsOf(resources).flatMap(({ name, versions }) => [
    ...(name === '' ? [] : [`/apis/${name}`]),
    ...versions.map((version) => `/${versionPath(version)}`),
  ]);
  const health = checks.flatMap((check) => [`/${check}`, `/${check}/ping`]);
  return indented({ paths: ['/api', '/apis', '/apis/', ...groups, ...health, '/openapi/v3', '/version'].sort() });
};

const version = (request: ApiRequest): PlainResponse => {
  if (request.method !== 'GET') {
    throw new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
  }
  checkRouter(request.headers['accept'], ['application/json']);
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(catalogue.version) ?? [];
  return indented({
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: catalogue.version,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: 'node',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  });
};

const health = (request: ApiRequest, check: string): PlainResponse =>
  textResponse(200, request.query.has('verbose') ? `[+]ping ok\n${check} check passed\n` : 'ok');

const openApiIndex = (resources: readonly Resource[]): PlainResponse => {
  const entries = groupVersions(resources).map((served) => {
    const path = versionPath(served);
    return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${openApiDocument(served).hash}` }] as const;
  });
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    kind: 'answer',
    code: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: JSON.stringify({ paths: Object.fromEntries(entries) }),
  };
};

const empty = (code: number, headers: Record<string, string> = {}): PlainResponse => ({
  kind: 'answer',
  code,
  headers,
  body: '',
});

/** The URL contains a hash of the document: the right one can be cached forever, another one redirects. */
const openApi = (
  request: ApiRequest,
  path: string,
  resources: readonly Resource[],
  clock: Clock | undefined,
): PlainResponse => {
  const served = groupVersions(resources).find((candidate) => versionPath(candidate) === path);
  if (!served) return empty(404);
  const accept = request.headers['accept'];
  if (accept && !parseAccept(accept).some((clause) => covers(clause, 'application/json'))) {
    return empty(406, { vary: 'Accept' });
  }
  const { json, hash } = openApiDocument(served);
  const headers = { 'content-type': 'application/json', etag: `"${hash}"`, vary: 'Accept' };
  const wanted = request.query.get('hash');
  if (wanted !== null && wanted !== '' && wanted !== hash) {
    return empty(301, { ...headers, location: `/openapi/v3/${path}?hash=${hash}` });
  }
  if (request.headers['if-none-match'] === `"${hash}"`) return empty(304, { etag: `"${hash}"`, vary: 'Accept' });
  const year = 365 * 24 * 3600 * 1000;
  const forever =
    wanted === hash
      ? {
          'cache-control': 'public, immutable',
          ...(clock ? { expires: new Date(clock.now() + year).toUTCString().replace('GMT', 'UTC') } : {}),
        }
      : {};
  return { kind: 'answer', code: 200, headers: { ...headers, ...forever }, body: json };
};

const openApiV2Type = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
/** The media type that kubectl sends. It is not a valid one; the response must have the other name. */
const openApiV2Alias = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

/**
 * kubectl asks for version 2, in protobuf, when it does not find a kind in version 3. An empty document (no bytes) makes it report that
 * there is no such kind. No other client needs version 2.
 */
const openApiV2 = (accept: string | undefined): PlainResponse => {
  const wanted = parseAccept(accept ?? '').map((clause) => `${clause.type}/${clause.subtype}`);
  const asked = wanted.includes(openApiV2Type) || wanted.includes(openApiV2Alias);
  return asked ? empty(200, { 'content-type': openApiV2Type }) : pageNotFound();
};

/** Every path that is neither discovery nor a resource. An unknown path has no Status on the real server either. */
export const nonResource = (
  request: ApiRequest,
  resources: readonly Resource[],
  { clock }: { clock?: Clock } = {},
): ApiResponse | undefined => {
  const { path } = request;
  if (path === '/' || path === '') return paths(resources);
  if (path === '/version' || path === '/version/') return version(request);
  const [, first = '', second = ''] = path.split('/');
  if (checks.includes(first)) {
    if (path === `/${first}`) return health(request, first);
    return second === 'ping' && path === `/${first}/ping` ? textResponse(200, 'ok') : pageNotFound();
  }
  if (path === '/openapi/v2') return openApiV2(request.headers['accept']);
  if (path === '/openapi/v3') return openApiIndex(resources);
  if (path.startsWith('/openapi/v3/')) return openApi(request, path.slice('/openapi/v3/'.length), resources, clock);
  if (first === 'api' || first === 'apis') return undefined;
  return pageNotFound();
};
