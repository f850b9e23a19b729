import { listAllPages } from '../http/client.ts';
import { operations } from '../http/operations.ts';
import {
  type Job,
  jobsResponse,
  repositoriesResponse,
  type Repository,
  type Run,
  runsResponse,
} from '../http/responses.ts';
import { repositoryParameters } from '../owner.ts';
import { orRefused, RefusedError } from '../problems.ts';
import type { Queue } from '../runner-service.ts';
import type { CallContext } from './call-context.ts';

/** Two calls for each, which cost nothing if nothing has changed. */
export const maxRepositories = 30;

/** The repositories of an organisation to search for jobs: those pushed to last, since pushes start workflows. */
export const chooseRepositories = (all: readonly Repository[], organization: string): readonly string[] =>
  all
    .filter(({ full_name: name, archived, disabled }) => {
      const isOurs = name.toLowerCase().startsWith(`${organization.toLowerCase()}/`);
      return isOurs && archived !== true && disabled !== true;
    })
    .sort((one, other) => Date.parse(other.pushed_at ?? '1970-01-01') - Date.parse(one.pushed_at ?? '1970-01-01'))
    .slice(0, maxRepositories)
    .map(({ full_name: name }) => name);

/**
 * The jobs that a runner with these labels could take. A runner needs all labels of a job; case does not matter. A job without labels asks
 * only for a runner group, and is not counted.
 */
export const matchingJobs = (jobs: readonly Job[], labels: readonly string[]): Queue => {
  const offered = new Set(labels.map((label) => label.toLowerCase()));
  const ours = jobs.filter(
    (job) =>
      job.status === 'queued' && job.labels.length > 0 && job.labels.every((label) => offered.has(label.toLowerCase())),
  );
  if (ours.length === 0) return { jobs: 0 };
  return { jobs: ours.length, oldestSince: Math.min(...ours.map((job) => Date.parse(job.created_at))) };
};

/** A thousand repositories of an installation. */
const maxRepositoryPages = 10;
/** The largest matrix has 256 jobs. */
const maxJobPages = 3;
/** Over all repositories; the oldest, since they have waited longest. */
export const maxRuns = 50;

/**
 * A run in progress may have waiting jobs (`actions-runner-controller#89`), and one that is shown as queued may have begun
 * (`cli/cli#13972`): both are searched.
 */
const statuses = ['queued', 'in_progress'];

type RunInRepository = Run & { readonly repository: string };

/**
 * The jobs of an owner that may wait for a runner: GitHub has no list of them, so runs are searched, repository by repository, one request at a time ("Best
 * practices": not concurrently). An unchanged response is a 304 and costs nothing.
 *
 * Caveats: at most 30 repositories of an organisation, those pushed to last, and 50 runs; does not consider which repositories a runner
 * group serves. So the number is only a hint, and no Pod is created or removed because of it.
 */
export const createQueuedJobs = ({ callApi, owner, ownerName }: CallContext) => {
  const what = `tell which jobs of ${ownerName} wait`;

  const repositories = async (signal: AbortSignal | undefined): Promise<readonly string[]> => {
    if (owner.kind === 'repository') return [owner.repository];
    const call = { operation: operations.repositories, what, answer: repositoriesResponse, signal };
    const all = await listAllPages(callApi, 'repositories', call, maxRepositoryPages);
    return chooseRepositories(all, owner.organization);
  };

  const runsOf = async (
    repository: string,
    status: string,
    signal: AbortSignal | undefined,
  ): Promise<readonly RunInRepository[]> => {
    const parameters = { ...repositoryParameters(repository), status };
    const call = { operation: operations.runs, what, parameters, answer: runsResponse, signal };
    const runs = await orRefused(listAllPages(callApi, 'workflow_runs', call, 1));
    if (!(runs instanceof RefusedError)) return runs.map((run) => ({ ...run, repository }));
    // A repository of an organisation may have been deleted, or may have no Actions.
    if (owner.kind === 'organization') return [];
    throw runs;
  };

  const jobsOf = async (run: RunInRepository, signal: AbortSignal | undefined): Promise<readonly Job[]> => {
    const parameters = { ...repositoryParameters(run.repository), run_id: run.id, filter: 'latest' };
    const call = { operation: operations.jobs, what, parameters, answer: jobsResponse, signal };
    const jobs = await orRefused(listAllPages(callApi, 'jobs', call, maxJobPages));
    // Refused: the run has been deleted meanwhile.
    return jobs instanceof RefusedError ? [] : jobs;
  };

  return async (signal: AbortSignal): Promise<readonly Job[]> => {
    const runs = new Map<number, RunInRepository>();
    for (const repository of await repositories(signal))
      for (const status of statuses) for (const run of await runsOf(repository, status, signal)) runs.set(run.id, run);
    const oldest = [...runs.values()].sort((one, other) => Date.parse(one.created_at) - Date.parse(other.created_at));
    const jobs: Job[] = [];
    for (const run of oldest.slice(0, maxRuns)) jobs.push(...(await jobsOf(run, signal)));
    return jobs;
  };
};
