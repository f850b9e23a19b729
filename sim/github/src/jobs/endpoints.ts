import { notFound } from '../api/errors.ts';
import { type ApiRequest, type ApiResponse, paginate } from '../api/handler.ts';
import type { Deps } from '../deps.ts';
import type { JobRecord } from './jobs.ts';

/** The REST API of workflow runs and jobs. */

interface PathParams {
  readonly owner: string;
  readonly id: string;
}

const timestamp = (milliseconds: number | undefined): string | null =>
  milliseconds === undefined ? null : `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;

/** The status of a run: completed when all jobs are, queued while none has begun. */
export const statusOfRun = (jobs: readonly Pick<JobRecord, 'status'>[]): JobRecord['status'] => {
  if (jobs.every(({ status }) => status === 'completed')) return 'completed';
  return jobs.every(({ status }) => status === 'queued') ? 'queued' : 'in_progress';
};

const runJSON = (deps: Deps, owner: string, id: number, jobs: readonly JobRecord[]): unknown => {
  const status = statusOfRun(jobs);
  const failed = jobs.find(({ conclusion }) => conclusion !== 'success');
  return {
    id,
    name: 'CI',
    status,
    conclusion: status === 'completed' ? (failed?.conclusion ?? 'success') : null,
    created_at: timestamp(jobs[0]?.queuedAt),
    updated_at: timestamp(Math.max(...jobs.map((job) => job.completedAt ?? job.startedAt ?? job.queuedAt))),
    jobs_url: `${deps.url()}/repos/${owner}/actions/runs/${id}/jobs`,
    repository: { full_name: owner },
  };
};

const jobJSON = (deps: Deps, job: JobRecord): unknown => {
  // The API does not show the assigned runner before the job has begun.
  const runner = job.status === 'queued' ? undefined : job.runner;
  return {
    id: job.id,
    run_id: job.runID,
    name: job.name,
    status: job.status,
    conclusion: job.conclusion ?? null,
    created_at: timestamp(job.queuedAt),
    started_at: timestamp(job.startedAt ?? job.queuedAt),
    completed_at: timestamp(job.completedAt),
    labels: job.labels,
    runner_id: runner?.id ?? 0,
    runner_name: runner?.name ?? '',
    runner_group_id: runner?.groupID ?? 0,
    runner_group_name: deps.groups.find(({ id }) => id === runner?.groupID)?.name ?? '',
  };
};

const jobsOf = (deps: Deps, owner: string): readonly JobRecord[] =>
  deps.jobs.all().filter(({ repository }) => repository.toLowerCase() === owner.toLowerCase());

/** `status` may also be a conclusion. Newest first. */
export const listRuns = (deps: Deps, request: ApiRequest, { owner }: PathParams): ApiResponse => {
  const wanted = request.query.get('status');
  const runs = [...Map.groupBy(jobsOf(deps, owner), ({ runID }) => runID)].reverse();
  const found = runs.filter(
    ([, jobs]) =>
      wanted === null || statusOfRun(jobs) === wanted || jobs.every(({ conclusion }) => conclusion === wanted),
  );
  return paginate(request, deps.url(), 'workflow_runs', found, ([id, jobs]) => runJSON(deps, owner, id, jobs));
};

export const listJobs = (deps: Deps, request: ApiRequest, { owner, id }: PathParams): ApiResponse => {
  const found = jobsOf(deps, owner).filter(({ runID }) => String(runID) === id);
  if (found.length === 0) return notFound();
  return paginate(request, deps.url(), 'jobs', found, (job) => jobJSON(deps, job));
};
