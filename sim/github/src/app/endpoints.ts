import { notAccessible, notFound, notGranted, problemsParsing } from '../api/errors.ts';
import { type ApiRequest, type ApiResponse, paginate, parseBody } from '../api/handler.ts';
import type { Deps } from '../deps.ts';
import { canonicalName, type Installation, isSameName, isSubset, type Permissions } from './installation.ts';

/** Calls as the App itself, with its JSON web token. */

const timestamp = (milliseconds: number): string => `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;

const installationJSON = (deps: Deps, { id, account, permissions, suspended = false }: Installation): unknown => ({
  id,
  app_id: deps.app.id,
  app_slug: deps.app.slug,
  client_id: deps.app.clientID,
  account: { login: account, type: 'Organization' },
  target_type: 'Organization',
  repository_selection: 'selected',
  permissions,
  suspended_at: suspended ? timestamp(deps.clock.now()) : null,
});

export const getApp = ({ app, installations }: Deps): ApiResponse => ({
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

export const listInstallations = (deps: Deps, request: ApiRequest): ApiResponse => {
  const { body, ...answer } = paginate(request, deps.url(), 'installations', deps.installations, (each) =>
    installationJSON(deps, each),
  );
  // A bare list, unlike the lists of runners.
  return { ...answer, body: (body as { installations: unknown[] }).installations };
};

export const getInstallationOf = (deps: Deps, _request: ApiRequest, { owner }: { owner: string }): ApiResponse => {
  const found = deps.installations.find((each) => canonicalName(each, owner) !== undefined);
  return found === undefined ? notFound() : { status: 200, body: installationJSON(deps, found) };
};

export const createAccessToken = (deps: Deps, { body }: ApiRequest, { id }: { id: string }): ApiResponse => {
  const installation = deps.installations.find((each) => String(each.id) === id);
  if (installation === undefined) return notFound();
  if (installation.suspended === true) return notAccessible();
  const fields = parseBody(body);
  if (fields === undefined) return problemsParsing();
  const asked = (fields['permissions'] ?? installation.permissions) as Permissions;
  if (!isSubset(installation.permissions, asked)) return notGranted();
  const { token, expiresAt } = deps.tokens.grant(installation, asked);
  deps.history.record({ type: 'token made', installation: installation.id });
  return {
    status: 201,
    body: { token, expires_at: timestamp(expiresAt), permissions: asked, repository_selection: 'selected' },
  };
};

/** Each run counts as a push. A repository without runs gets the epoch. */
const pushedAt = ({ jobs }: Deps, fullName: string): string => {
  const queued = jobs.all().flatMap((job) => (isSameName(job.repository, fullName) ? [job.queuedAt] : []));
  return timestamp(Math.max(0, ...queued));
};

/** "List repositories accessible to the app installation": needs no permission, and has no parameter for the order. */
export const listRepositories = (
  deps: Deps,
  request: ApiRequest,
  { account, repositories }: Installation,
): ApiResponse =>
  paginate(request, deps.url(), 'repositories', repositories, (name) => ({
    id: repositories.indexOf(name) + 1,
    name,
    full_name: `${account}/${name}`,
    owner: { login: account },
    private: true,
    archived: false,
    disabled: false,
    pushed_at: pushedAt(deps, `${account}/${name}`),
  }));
