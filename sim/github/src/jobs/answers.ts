import { page } from '../requests/pages.ts';
import { notFound } from '../requests/refusals.ts';
import type { Answer, ApiRequest } from '../requests/request.ts';
import type { World } from '../world.ts';
import type { JobRecord } from './job.ts';

/** What the REST API answers about workflow runs and their jobs. */

interface Where {
  readonly owner: string;
  readonly id: string;
}

const time = (milliseconds: number | undefined): string | null =>
  milliseconds === undefined ? null : `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;

/** A run is as far as its jobs are: over when all are, waiting as long as none has begun. */
export const statusOfRun = (jobs: readonly Pick<JobRecord, 'status'>[]): JobRecord['status'] => {
  if (jobs.every(({ status }) => status === 'completed')) return 'completed';
  return jobs.every(({ status }) => status === 'queued') ? 'queued' : 'in_progress';
};

const runJSON = (world: World, owner: string, id: number, jobs: readonly JobRecord[]): unknown => {
  const status = statusOfRun(jobs);
  const failed = jobs.find(({ conclusion }) => conclusion !== 'success');
  return {
    id,
    name: 'CI',
    status,
    conclusion: status === 'completed' ? (failed?.conclusion ?? 'success') : null,
    created_at: time(jobs[0]?.queuedAt),
    updated_at: time(Math.max(...jobs.map((job) => job.completedAt ?? job.startedAt ?? job.queuedAt))),
    jobs_url: `${world.url()}/repos/${owner}/actions/runs/${id}/jobs`,
    repository: { full_name: owner },
  };
};

const jobJSON = (world: World, job: JobRecord): unknown => {
  // Nobody is told to whom it was given before it has begun.
  const runner = job.status === 'queued' ? undefined : job.runner;
  return {
    id: job.id,
    run_id: job.runID,
    name: job.name,
    status: job.status,
    conclusion: job.conclusion ?? null,
    created_at: time(job.queuedAt),
    started_at: time(job.startedAt ?? job.queuedAt),
    completed_at: time(job.completedAt),
    labels: job.labels,
    runner_id: runner?.id ?? 0,
    runner_name: runner?.name ?? '',
    runner_group_id: runner?.groupID ?? 0,
    runner_group_name: world.groups.find(({ id }) => id === runner?.groupID)?.name ?? '',
  };
};

const jobsOf = (world: World, owner: string): readonly JobRecord[] =>
  world.jobs.all().filter(({ repository }) => repository.toLowerCase() === owner.toLowerCase());

/** `status` may be a conclusion as well. Newest first. */
export const listRuns = (world: World, request: ApiRequest, { owner }: Where): Answer => {
  const wanted = request.query.get('status');
  const runs = [...Map.groupBy(jobsOf(world, owner), ({ runID }) => runID)].reverse();
  const found = runs.filter(
    ([, jobs]) =>
      wanted === null || statusOfRun(jobs) === wanted || jobs.every(({ conclusion }) => conclusion === wanted),
  );
  return page(request, world.url(), 'workflow_runs', found, ([id, jobs]) => runJSON(world, owner, id, jobs));
};

export const listJobs = (world: World, request: ApiRequest, { owner, id }: Where): Answer => {
  const found = jobsOf(world, owner).filter(({ runID }) => String(runID) === id);
  if (found.length === 0) return notFound();
  return page(request, world.url(), 'jobs', found, (job) => jobJSON(world, job));
};
