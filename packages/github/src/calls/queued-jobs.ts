import { type ApiResult, listAllPages } from '../http/client.ts';
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
import type { Queue, RunnerService } from '../runner-service.ts';
import { type CallContext, problemFrom } from './call-context.ts';

/** Two calls each, which cost nothing where nothing has changed. */
export const maxRepositories = 30;

/** Where to look for the jobs of an organisation: where somebody has pushed last, since that is what starts workflows. */
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
 * The jobs that a runner with these labels could take. Labels are cumulative and not case sensitive. A job without labels asks for a
 * runner group alone, and is nobody's here.
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

/** A thousand repositories of an installation are looked through for those to look into. */
const maxRepositoryPages = 10;
/** The largest matrix has 256 jobs. */
const maxJobPages = 3;
/** Of all repositories together; the oldest, since they have waited longest. */
export const maxRuns = 50;

/**
 * A run that has begun may have jobs that wait (`actions-runner-controller#89`), and one that is called queued may have begun
 * (`cli/cli#13972`): both are looked into.
 */
const statuses = ['queued', 'in_progress'];

type RunInRepository = Run & { readonly repository: string };

/**
 * Jobs that wait, as far as one can see: GitHub has no list of them, so runs are looked through, repository by repository, one request
 * at a time ("Best practices": not concurrently). What has not changed is a 304 and costs nothing.
 *
 * Caveats: at most 30 repositories of an organisation, those pushed to last, and 50 runs; which repositories a runner group serves is
 * not considered. So the number is a hint, and nothing is made or removed for it.
 */
export const createQueue = (caller: CallContext): RunnerService['queue'] => {
  const { callApi, owner, ownerName } = caller;
  const what = `tell which jobs of ${ownerName} wait`;

  const repositories = async (signal: AbortSignal | undefined): Promise<ApiResult<readonly string[]>> => {
    if (owner.kind === 'repository') return { kind: 'ok', value: [owner.repository] };
    const asked = { operation: operations.repositories, what, parameters: {}, answer: repositoriesResponse, signal };
    const all = await listAllPages(
      callApi,
      { ...asked, isConditional: true },
      ({ total_count: total, repositories: items }) => ({ total, items }),
      maxRepositoryPages,
    );
    return all.kind === 'ok' ? { kind: 'ok', value: chooseRepositories(all.value, owner.organization) } : all;
  };

  const runsOf = async (
    repository: string,
    status: string,
    signal: AbortSignal | undefined,
  ): Promise<ApiResult<readonly RunInRepository[]>> => {
    const parameters = { ...repositoryParameters(repository), status };
    const got = await listAllPages(
      callApi,
      { operation: operations.runs, what, parameters, answer: runsResponse, isConditional: true, signal },
      ({ total_count: total, workflow_runs: items }) => ({ total, items }),
      1,
    );
    // One of many may have been deleted, or has no Actions: the others still have.
    if (got.kind === 'refused' && owner.kind === 'organization') return { kind: 'ok', value: [] };
    return got.kind === 'ok' ? { kind: 'ok', value: got.value.map((run) => ({ ...run, repository })) } : got;
  };

  const jobsOf = (run: RunInRepository, signal: AbortSignal | undefined): Promise<ApiResult<readonly Job[]>> => {
    const parameters = { ...repositoryParameters(run.repository), run_id: run.id, filter: 'latest' };
    return listAllPages(
      callApi,
      { operation: operations.jobs, what, parameters, answer: jobsResponse, isConditional: true, signal },
      ({ total_count: total, jobs: items }) => ({ total, items }),
      maxJobPages,
    );
  };

  return async (labels, { signal } = {}) => {
    const looked = await repositories(signal);
    if (looked.kind !== 'ok') return problemFrom(looked, what, ownerName);
    const runs = new Map<number, RunInRepository>();
    for (const repository of looked.value) {
      for (const status of statuses) {
        const some = await runsOf(repository, status, signal);
        if (some.kind !== 'ok') return problemFrom(some, what, ownerName);
        for (const run of some.value) runs.set(run.id, run);
      }
    }
    const oldest = [...runs.values()].sort((one, other) => Date.parse(one.created_at) - Date.parse(other.created_at));
    const jobs: Job[] = [];
    for (const run of oldest.slice(0, maxRuns)) {
      const some = await jobsOf(run, signal);
      // Deleted since.
      if (some.kind === 'refused') continue;
      if (some.kind !== 'ok') return some;
      jobs.push(...some.value);
    }
    return { kind: 'known', queue: matchingJobs(jobs, labels) };
  };
};
