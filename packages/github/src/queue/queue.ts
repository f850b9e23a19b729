import { type Caller, problemIn } from '../calls/caller.ts';
import { followPages } from '../calls/follow-pages.ts';
import type { Answered } from '../http/ask.ts';
import { operations } from '../http/operations.ts';
import { repositoryPath } from '../owner.ts';
import type { RunnerService } from '../runner-service.ts';
import { type Job, jobsAnswer, repositoriesAnswer, type Run, runsAnswer } from '../wire/answers.ts';
import { chooseRepositories } from './choose-repositories.ts';
import { waiting } from './waiting.ts';

/** A thousand repositories of an installation are looked through for those to look into. */
const mostRepositoryPages = 10;
/** The largest matrix has 256 jobs. */
const mostJobPages = 3;
/** Of all repositories together; the oldest, since they have waited longest. */
export const mostRuns = 50;

/**
 * A run that has begun may have jobs that wait (`actions-runner-controller#89`), and one that is called queued may have begun
 * (`cli/cli#13972`): both are looked into.
 */
const statuses = ['queued', 'in_progress'];

type Found = Run & { readonly repository: string };

/**
 * Jobs that wait, as far as one can see: GitHub has no list of them, so runs are looked through, repository by repository, one request
 * at a time ("Best practices": not concurrently). What has not changed is a 304 and costs nothing.
 *
 * Caveats: at most 30 repositories of an organisation, those pushed to last, and 50 runs; which repositories a runner group serves is
 * not considered. So the number is a hint, and nothing is made or removed for it.
 */
export const createQueue = (caller: Caller): RunnerService['queue'] => {
  const { ask, owner, ownerName } = caller;
  const what = `tell which jobs of ${ownerName} wait`;

  const repositories = async (signal: AbortSignal | undefined): Promise<Answered<readonly string[]>> => {
    if (owner.kind === 'repository') return { kind: 'ok', value: [owner.repository] };
    const asked = { operation: operations.repositories, what, parameters: {}, answer: repositoriesAnswer, signal };
    const all = await followPages(
      ask,
      { ...asked, isConditional: true },
      ({ total_count: total, repositories: items }) => ({ total, items }),
      mostRepositoryPages,
    );
    return all.kind === 'ok' ? { kind: 'ok', value: chooseRepositories(all.value, owner.organization) } : all;
  };

  const runsOf = async (
    repository: string,
    status: string,
    signal: AbortSignal | undefined,
  ): Promise<Answered<readonly Found[]>> => {
    const parameters = { ...repositoryPath(repository), status };
    const got = await followPages(
      ask,
      { operation: operations.runs, what, parameters, answer: runsAnswer, isConditional: true, signal },
      ({ total_count: total, workflow_runs: items }) => ({ total, items }),
      1,
    );
    // One of many may have been deleted, or has no Actions: the others still have.
    if (got.kind === 'refused' && owner.kind === 'organization') return { kind: 'ok', value: [] };
    return got.kind === 'ok' ? { kind: 'ok', value: got.value.map((run) => ({ ...run, repository })) } : got;
  };

  const jobsOf = (run: Found, signal: AbortSignal | undefined): Promise<Answered<readonly Job[]>> => {
    const parameters = { ...repositoryPath(run.repository), run_id: run.id, filter: 'latest' };
    return followPages(
      ask,
      { operation: operations.jobs, what, parameters, answer: jobsAnswer, isConditional: true, signal },
      ({ total_count: total, jobs: items }) => ({ total, items }),
      mostJobPages,
    );
  };

  return async (labels, { signal } = {}) => {
    const looked = await repositories(signal);
    if (looked.kind !== 'ok') return problemIn(looked, what, ownerName);
    const runs = new Map<number, Found>();
    for (const repository of looked.value) {
      for (const status of statuses) {
        const some = await runsOf(repository, status, signal);
        if (some.kind !== 'ok') return problemIn(some, what, ownerName);
        for (const run of some.value) runs.set(run.id, run);
      }
    }
    const oldest = [...runs.values()].sort((one, other) => Date.parse(one.created_at) - Date.parse(other.created_at));
    const jobs: Job[] = [];
    for (const run of oldest.slice(0, mostRuns)) {
      const some = await jobsOf(run, signal);
      // Deleted since.
      if (some.kind === 'refused') continue;
      if (some.kind !== 'ok') return some;
      jobs.push(...some.value);
    }
    return { kind: 'known', queue: waiting(jobs, labels) };
  };
};
