import { createAccessToken, getApp, getInstallationOf, listInstallations, listRepositories } from '../app/answers.ts';
import { whyNot } from '../app/check-assertion.ts';
import { reached } from '../app/installation.ts';
import { allows, type Needs } from '../app/permissions.ts';
import type { AccessToken } from '../app/tokens.ts';
import { listJobs, listRuns } from '../jobs/answers.ts';
import {
  createRegistrationToken,
  createRemoveToken,
  deleteRunner,
  generateJitConfig,
  getRunner,
  listDownloads,
  listRunnerGroups,
  listRunners,
} from '../runners/answers.ts';
import type { World } from '../world.ts';
import { badAssertion, badCredentials, notAccessible, notFound, requiresAuthentication } from './refusals.ts';
import type { Answer, ApiRequest } from './request.ts';

type Respond = (world: World, request: ApiRequest, where: { owner: string; id: string }) => Answer;

interface Operation {
  readonly method: string;
  readonly path: RegExp;
  /** What a token must allow; an App with its assertion; or anybody who has a token. */
  readonly needs: Needs | 'the App itself' | 'any token';
  readonly respond: Respond;
}

const operation = (method: string, path: string, needs: Operation['needs'], respond: Respond): Operation => ({
  method,
  path: new RegExp(`^${path}$`),
  needs,
  respond,
});

const organization = '/orgs/(?<owner>[^/]+)';
const repository = '/repos/(?<owner>[^/]+/[^/]+)';
const number = '(?<id>\\d+)';

const runnersOf = (base: string, permission: Needs['permission']): Operation[] => {
  const read = { permission, level: 'read' } as const;
  const write = { permission, level: 'write' } as const;
  const runners = `${base}/actions/runners`;
  return [
    operation('GET', runners, read, listRunners),
    operation('GET', `${runners}/downloads`, read, listDownloads),
    operation('GET', `${runners}/${number}`, read, getRunner),
    operation('DELETE', `${runners}/${number}`, write, deleteRunner),
    operation('POST', `${runners}/generate-jitconfig`, write, generateJitConfig),
    operation('POST', `${runners}/registration-token`, write, createRegistrationToken),
    operation('POST', `${runners}/remove-token`, write, createRemoveToken),
  ];
};

const operations: readonly Operation[] = [
  operation('GET', '/app', 'the App itself', getApp),
  operation('GET', '/app/installations', 'the App itself', listInstallations),
  operation('POST', `/app/installations/${number}/access_tokens`, 'the App itself', createAccessToken),
  operation('GET', `${organization}/installation`, 'the App itself', getInstallationOf),
  operation('GET', `${repository}/installation`, 'the App itself', getInstallationOf),
  operation('GET', '/rate_limit', 'any token', (world, request) => {
    const core = world.limit.figures(whoAsks(world, request));
    return { status: 200, body: { resources: { core }, rate: core } };
  }),
  operation('GET', '/installation/repositories', 'any token', (world, request) => {
    const grant = grantOf(world, request);
    return grant === undefined ? badCredentials() : listRepositories(world, request, grant.installation);
  }),
  ...runnersOf(organization, 'organization_self_hosted_runners'),
  ...runnersOf(repository, 'administration'),
  operation(
    'GET',
    `${organization}/actions/runner-groups`,
    { permission: 'organization_self_hosted_runners', level: 'read' },
    listRunnerGroups,
  ),
  operation('GET', `${repository}/actions/runs`, { permission: 'actions', level: 'read' }, listRuns),
  operation('GET', `${repository}/actions/runs/${number}/jobs`, { permission: 'actions', level: 'read' }, listJobs),
];

/** `Bearer` or `token`: both are taken. */
const tokenOf = ({ headers }: ApiRequest): string | undefined =>
  /^(?:bearer|token) +(\S+)$/i.exec(headers['authorization'] ?? '')?.[1];

export const grantOf = (world: World, request: ApiRequest): AccessToken | undefined =>
  world.tokens.granted(tokenOf(request) ?? '');

/** Whose calls are counted. */
export const whoAsks = (world: World, request: ApiRequest): string => {
  const grant = grantOf(world, request);
  return grant === undefined ? 'the App' : `installation ID ${grant.installation.id}`;
};

/** What is said to somebody who asks for himself as an App. */
const refuseApp = (world: World, request: ApiRequest): Answer | undefined => {
  const token = tokenOf(request);
  if (token === undefined) return requiresAuthentication();
  const why = whyNot(world.app, token, Math.floor(world.clock.now() / 1000));
  return why === undefined ? undefined : badAssertion(why);
};

/** The whole of the REST API: an answer to anything. */
export const answerRequest = (world: World, request: ApiRequest): Answer => {
  for (const { method, path, needs, respond } of operations) {
    const match = method === request.method ? path.exec(request.path) : null;
    if (match === null) continue;
    const { owner = '', id = '' } = match.groups ?? {};
    if (needs === 'the App itself') return refuseApp(world, request) ?? respond(world, request, { owner, id });
    if (tokenOf(request) === undefined) return requiresAuthentication();
    const grant = grantOf(world, request);
    if (grant === undefined) return badCredentials();
    if (needs === 'any token') return respond(world, request, { owner, id });
    // What a token does not reach is not there for it: GitHub does not tell what exists.
    const written = reached(grant.installation, owner);
    if (written === undefined) return notFound();
    if (grant.installation.suspended === true || !allows(grant.permissions, needs)) return notAccessible();
    return respond(world, request, { owner: written, id });
  }
  return notFound();
};
