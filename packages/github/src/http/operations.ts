import { pathParametersOf } from '../owner.ts';
import type { Owner } from '../runner-service.ts';

/** One kind of call to GitHub. */
export interface Operation {
  /** `GET /orgs/{org}/actions/runners`: also a label of metrics. */
  readonly route: string;
  /** The permission that the App needs, as its settings call it. */
  readonly permission: string;
  /** `background`: only for information. Blocked before the last calls of the hour, which are kept for `required` ones. */
  readonly purpose: 'required' | 'background';
  /** The owner, in paths. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Sent as the App itself, whose calls GitHub counts apart from those of its installations. */
  readonly isAsApp?: boolean;
}

/** An organisation and a repository differ in path and permission. */
export const runnerOperations = (owner: Owner) => {
  const isOrganization = owner.kind === 'organization';
  const runners = `${isOrganization ? '/orgs/{org}' : '/repos/{owner}/{repo}'}/actions/runners`;
  const permission = isOrganization
    ? 'the organization permission "Self-hosted runners"'
    : 'the repository permission "Administration"';
  const parameters = pathParametersOf(owner);
  const read = { permission: `${permission} (read)`, parameters };
  const write = { permission: `${permission} (read and write)`, parameters };
  return {
    mint: { route: `POST ${runners}/generate-jitconfig`, ...write, purpose: 'required' },
    get: { route: `GET ${runners}/{runner_id}`, ...read, purpose: 'required' },
    find: { route: `GET ${runners}`, ...read, purpose: 'required' },
    groups: { route: 'GET /orgs/{org}/actions/runner-groups', ...read, purpose: 'required' },
    list: { route: `GET ${runners}`, ...read, purpose: 'background' },
    downloads: { route: `GET ${runners}/downloads`, ...read, purpose: 'background' },
    remove: { route: `DELETE ${runners}/{runner_id}`, ...write, purpose: 'required' },
    registrationToken: { route: `POST ${runners}/registration-token`, ...write, purpose: 'required' },
  } as const satisfies Record<string, Operation>;
};

export const operations = {
  accessToken: {
    route: 'POST /app/installations/{installation_id}/access_tokens',
    permission: 'an installation that is not suspended',
    purpose: 'required',
    isAsApp: true,
  },
  repositories: {
    route: 'GET /installation/repositories',
    permission: 'the repository permission "Metadata" (read)',
    purpose: 'background',
  },
  runs: {
    route: 'GET /repos/{owner}/{repo}/actions/runs',
    permission: 'the repository permission "Actions" (read)',
    purpose: 'background',
  },
  jobs: {
    route: 'GET /repos/{owner}/{repo}/actions/runs/{run_id}/jobs',
    permission: 'the repository permission "Actions" (read)',
    purpose: 'background',
  },
} as const satisfies Record<string, Operation>;
