import { createHash } from 'node:crypto';
import { type AccessToken, jwtError } from '../app/authentication.ts';
import { createAccessToken, getApp, getInstallationOf, listInstallations, listRepositories } from '../app/endpoints.ts';
import { canonicalName, isAllowed, type RequiredPermission } from '../app/installation.ts';
import type { Deps } from '../deps.ts';
import type { CallFault } from '../github.ts';
import { listJobs, listRuns } from '../jobs/endpoints.ts';
import {
  createRegistrationToken,
  createRemoveToken,
  deleteRunner,
  generateJitConfig,
  getRunner,
  listDownloads,
  listRunnerGroups,
  listRunners,
} from '../runners/endpoints.ts';
import {
  badCredentials,
  badJwt,
  notAccessible,
  notFound,
  primaryLimit,
  requiresAuthentication,
  secondaryLimit,
} from './errors.ts';
import type { ApiRequest, ApiResponse } from './handler.ts';

type Handler = (deps: Deps, request: ApiRequest, where: { owner: string; id: string }) => ApiResponse;

interface Route {
  readonly method: string;
  readonly path: RegExp;
  /** The permission that the token needs; `app`: a JWT of the App; `token`: any token. */
  readonly needs: RequiredPermission | 'app' | 'token';
  readonly respond: Handler;
}

const route = (method: string, path: string, needs: Route['needs'], respond: Handler): Route => ({
  method,
  path: new RegExp(`^${path}$`),
  needs,
  respond,
});

const organization = '/orgs/(?<owner>[^/]+)';
const repository = '/repos/(?<owner>[^/]+/[^/]+)';
const number = '(?<id>\\d+)';

const runnersOf = (base: string, permission: RequiredPermission['permission']): Route[] => {
  const read = { permission, level: 'read' } as const;
  const write = { permission, level: 'write' } as const;
  const runners = `${base}/actions/runners`;
  return [
    route('GET', runners, read, listRunners),
    route('GET', `${runners}/downloads`, read, listDownloads),
    route('GET', `${runners}/${number}`, read, getRunner),
    route('DELETE', `${runners}/${number}`, write, deleteRunner),
    route('POST', `${runners}/generate-jitconfig`, write, generateJitConfig),
    route('POST', `${runners}/registration-token`, write, createRegistrationToken),
    route('POST', `${runners}/remove-token`, write, createRemoveToken),
  ];
};

const routes: readonly Route[] = [
  route('GET', '/app', 'app', getApp),
  route('GET', '/app/installations', 'app', listInstallations),
  route('POST', `/app/installations/${number}/access_tokens`, 'app', createAccessToken),
  route('GET', `${organization}/installation`, 'app', getInstallationOf),
  route('GET', `${repository}/installation`, 'app', getInstallationOf),
  route('GET', '/rate_limit', 'token', (deps, request) => {
    const core = deps.limit.figures(rateLimitKey(deps, request));
    return { status: 200, body: { resources: { core }, rate: core } };
  }),
  route('GET', '/installation/repositories', 'token', (deps, request) => {
    const grant = grantOf(deps, request);
    return grant === undefined ? badCredentials() : listRepositories(deps, request, grant.installation);
  }),
  ...runnersOf(organization, 'organization_self_hosted_runners'),
  ...runnersOf(repository, 'administration'),
  route(
    'GET',
    `${organization}/actions/runner-groups`,
    { permission: 'organization_self_hosted_runners', level: 'read' },
    listRunnerGroups,
  ),
  route('GET', `${repository}/actions/runs`, { permission: 'actions', level: 'read' }, listRuns),
  route('GET', `${repository}/actions/runs/${number}/jobs`, { permission: 'actions', level: 'read' }, listJobs),
];

/** Accepts `Bearer` and `token`. */
const tokenOf = ({ headers }: ApiRequest): string | undefined =>
  /^(?:bearer|token) +(\S+)$/i.exec(headers['authorization'] ?? '')?.[1];

const grantOf = (deps: Deps, request: ApiRequest): AccessToken | undefined =>
  deps.tokens.accessToken(tokenOf(request) ?? '');

/** The key under which calls are counted. */
const rateLimitKey = (deps: Deps, request: ApiRequest): string => {
  const grant = grantOf(deps, request);
  return grant === undefined ? 'the App' : `installation ID ${grant.installation.id}`;
};

/** The error for a call as the App, if its JWT is invalid. */
const appAuthenticationError = (deps: Deps, request: ApiRequest): ApiResponse | undefined => {
  const token = tokenOf(request);
  if (token === undefined) return requiresAuthentication();
  const why = jwtError(deps.app, token, Math.floor(deps.clock.now() / 1000));
  return why === undefined ? undefined : badJwt(why);
};

/** The whole REST API: answers every request. */
const routeRequest = (deps: Deps, request: ApiRequest): ApiResponse => {
  for (const { method, path, needs, respond } of routes) {
    const match = method === request.method ? path.exec(request.path) : null;
    if (match === null) continue;
    const { owner = '', id = '' } = match.groups ?? {};
    if (needs === 'app') return appAuthenticationError(deps, request) ?? respond(deps, request, { owner, id });
    if (tokenOf(request) === undefined) return requiresAuthentication();
    const grant = grantOf(deps, request);
    if (grant === undefined) return badCredentials();
    if (needs === 'token') return respond(deps, request, { owner, id });
    // A resource outside of the token's access does not exist for it: GitHub does not reveal what exists.
    const written = canonicalName(grant.installation, owner);
    if (written === undefined) return notFound();
    if (grant.installation.suspended === true || !isAllowed(grant.permissions, needs)) return notAccessible();
    return respond(deps, request, { owner: written, id });
  }
  return notFound();
};

/**
 * REST API, "Best practices": an unchanged response is a 304, which does not count against the limit. An ETag is valid for one token only
 * (`github/docs#34689`), so those of an App are useless after an hour.
 */
const withETag = ({ method, headers }: ApiRequest, answer: ApiResponse): ApiResponse => {
  if (method !== 'GET' || answer.status !== 200) return answer;
  const hash = createHash('sha256');
  hash.update(headers['authorization'] ?? '').update(JSON.stringify(answer.body));
  const etag = `W/"${hash.digest('hex')}"`;
  const tagged = { ...answer.headers, etag };
  return headers['if-none-match'] === etag ? { status: 304, headers: tagged } : { ...answer, headers: tagged };
};

/** A call of the REST API with its cost: limits are checked first, and each answer has the remaining quota. */
export const handleApiRequest = (deps: Deps, request: ApiRequest, fault: CallFault | undefined): ApiResponse => {
  const { limit } = deps;
  const who = rateLimitKey(deps, request);
  if (fault === 'expired token') {
    const grant = grantOf(deps, request);
    if (grant !== undefined) grant.expiresAt = deps.clock.now();
    return badCredentials();
  }
  const limited = typeof fault === 'object' && 'limit' in fault ? fault : undefined;
  if (limited?.limit === 'primary') limit.exhaust(who);
  if (limited?.limit === 'secondary') limit.block(who, limited.seconds, limited.status ?? 403, limited.tells ?? true);
  // The only call that costs nothing (REST API, "Rate limit").
  if (request.path === '/rate_limit') return routeRequest(deps, request);
  const pause = limit.blocked(who);
  if (pause !== undefined) return secondaryLimit(pause.status, pause.retryAfter);
  if (limit.isOver(who)) return primaryLimit(limited?.status ?? 403, who, limit.headers(who));
  const answer = withETag(request, routeRequest(deps, request));
  if (answer.status !== 304) limit.spend(who);
  return { ...answer, headers: { ...limit.headers(who), ...answer.headers } };
};
