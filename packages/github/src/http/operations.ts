import type { Owner } from '../runner-service.ts';

/** One thing that can be asked of GitHub. */
export interface Operation {
  /** `GET /orgs/{org}/actions/runners`: also a label of metrics. */
  readonly route: string;
  /** What the App must be allowed, as its settings call it. */
  readonly permission: string;
  /** `watch`: only to know more. It stops before the last calls of the hour are gone, which are kept for what must be done. */
  readonly purpose: 'act' | 'watch';
  /** Asked as the App itself, whose calls are counted apart from those of its installations. */
  readonly isAsApp?: true;
}

type RunnerOperation = 'mint' | 'get' | 'find' | 'reach' | 'list' | 'downloads' | 'remove' | 'registrationToken';

/** What differs between an organisation and a repository: the path and the right. */
export const runnerOperations = (owner: Owner): Readonly<Record<RunnerOperation, Operation>> => {
  const isOrganization = owner.kind === 'organization';
  const runners = `${isOrganization ? '/orgs/{org}' : '/repos/{owner}/{repo}'}/actions/runners`;
  const permission = isOrganization
    ? 'the organization permission "Self-hosted runners"'
    : 'the repository permission "Administration"';
  const read = { permission: `${permission} (read)` };
  const write = { permission: `${permission} (read and write)` };
  return {
    mint: { route: `POST ${runners}/generate-jitconfig`, ...write, purpose: 'act' },
    get: { route: `GET ${runners}/{runner_id}`, ...read, purpose: 'act' },
    find: { route: `GET ${runners}`, ...read, purpose: 'act' },
    reach: { route: `GET ${runners}`, ...read, purpose: 'act' },
    list: { route: `GET ${runners}`, ...read, purpose: 'watch' },
    downloads: { route: `GET ${runners}/downloads`, ...read, purpose: 'watch' },
    remove: { route: `DELETE ${runners}/{runner_id}`, ...write, purpose: 'act' },
    registrationToken: { route: `POST ${runners}/registration-token`, ...write, purpose: 'act' },
  };
};

export const operations = {
  accessToken: {
    route: 'POST /app/installations/{installation_id}/access_tokens',
    permission: 'an installation that is not suspended',
    purpose: 'act',
    isAsApp: true,
  },
  groups: {
    route: 'GET /orgs/{org}/actions/runner-groups',
    permission: 'the organization permission "Self-hosted runners" (read)',
    purpose: 'act',
  },
  repositories: {
    route: 'GET /installation/repositories',
    permission: 'the repository permission "Metadata" (read)',
    purpose: 'watch',
  },
  runs: {
    route: 'GET /repos/{owner}/{repo}/actions/runs',
    permission: 'the repository permission "Actions" (read)',
    purpose: 'watch',
  },
  jobs: {
    route: 'GET /repos/{owner}/{repo}/actions/runs/{run_id}/jobs',
    permission: 'the repository permission "Actions" (read)',
    purpose: 'watch',
  },
} as const satisfies Record<string, Operation>;
