import { fieldsOf } from '../requests/body.ts';
import { page } from '../requests/pages.ts';
import { notAccessible, notFound, notGranted, problemsParsing } from '../requests/refusals.ts';
import type { Answer, ApiRequest } from '../requests/request.ts';
import type { World } from '../world.ts';
import { type Installation, isSame, reached } from './installation.ts';
import { isWithin, type Permissions } from './permissions.ts';

/** What an App is told about itself, for its JSON web token. */

const seconds = (milliseconds: number): string => `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;

const installationJSON = (world: World, { id, account, permissions, suspended = false }: Installation): unknown => ({
  id,
  app_id: world.app.id,
  app_slug: world.app.slug,
  client_id: world.app.clientID,
  account: { login: account, type: 'Organization' },
  target_type: 'Organization',
  repository_selection: 'selected',
  permissions,
  suspended_at: suspended ? seconds(world.clock.now()) : null,
});

export const getApp = ({ app, installations }: World): Answer => ({
  status: 200,
  body: {
    id: app.id,
    client_id: app.clientID,
    slug: app.slug,
    name: app.slug,
    permissions: installations[0]?.permissions ?? {},
    installations_count: installations.length,
  },
});

export const listInstallations = (world: World, request: ApiRequest): Answer => {
  const { body, ...answer } = page(request, world.url(), 'installations', world.installations, (each) =>
    installationJSON(world, each),
  );
  // A bare list, unlike those of runners.
  return { ...answer, body: (body as { installations: unknown[] }).installations };
};

export const getInstallationOf = (world: World, _request: ApiRequest, { owner }: { owner: string }): Answer => {
  const found = world.installations.find((each) => reached(each, owner) !== undefined);
  return found === undefined ? notFound() : { status: 200, body: installationJSON(world, found) };
};

export const createAccessToken = (world: World, { body }: ApiRequest, { id }: { id: string }): Answer => {
  const installation = world.installations.find((each) => String(each.id) === id);
  if (installation === undefined) return notFound();
  if (installation.suspended === true) return notAccessible();
  const fields = fieldsOf(body);
  if (fields === undefined) return problemsParsing();
  const asked = (fields['permissions'] ?? installation.permissions) as Permissions;
  if (!isWithin(installation.permissions, asked)) return notGranted();
  const { token, expiresAt } = world.tokens.grant(installation, asked);
  world.history.note({ what: 'token made', installation: installation.id });
  return {
    status: 201,
    body: { token, expires_at: seconds(expiresAt), permissions: asked, repository_selection: 'selected' },
  };
};

/** Somebody pushed before each run. One without any is as old as the world. */
const pushedAt = ({ jobs }: World, fullName: string): string => {
  const queued = jobs.all().flatMap((job) => (isSame(job.repository, fullName) ? [job.queuedAt] : []));
  return seconds(Math.max(0, ...queued));
};

/** "List repositories accessible to the app installation": needs no permission, and cannot be told an order. */
export const listRepositories = (world: World, request: ApiRequest, { account, repositories }: Installation): Answer =>
  page(request, world.url(), 'repositories', repositories, (name) => ({
    id: repositories.indexOf(name) + 1,
    name,
    full_name: `${account}/${name}`,
    owner: { login: account },
    private: true,
    archived: false,
    disabled: false,
    pushed_at: pushedAt(world, `${account}/${name}`),
  }));
