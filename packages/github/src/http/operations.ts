import { pathParametersOf } from '../owner.ts';
import type { Owner } from '../runner-service.ts';

/** One thing that can be asked of GitHub. */
export interface Operation {
  /** `GET /orgs/{org}/actions/runners`: also a label of metrics. */
  readonly route: string;
  /** What the App must be allowed, as its settings call it. */
  readonly permission: string;
  /** `background`: only informs. It stops before the last calls of the hour are used, which are kept for `required` ones. */
  readonly purpose: 'required' | 'background';
  /** The owner, in paths. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Asked as the App itself, whose calls are counted apart from those of its installations. */
  readonly isAsApp?: boolean;
}

/** What differs between an organisation and a repository: the path and the permission. */
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
