import type { Clock, Random } from '@tartan/kube/clock';
import type { GitHubFaults } from '../github.ts';
import type { History } from '../history.ts';
import { isBusy, type RunnerGroup, type RunnerRecord } from '../runners/runner.ts';
import type { Runners } from '../runners/runners.ts';
import type { Timers } from '../timers.ts';
import { covers } from './covers.ts';
import { type JobRecord, type JobWanted, lease, longestInQueue, longestUntilPickedUp } from './job.ts';

/** Jobs, from the moment somebody wants them until they are over. */
export interface Jobs {
  all(): readonly JobRecord[];
  queue(wanted: JobWanted): JobRecord;
  /** Gives out what can be given out. */
  assign(): void;
  /** These were shown as idle just now. */
  shownIdle(runners: readonly RunnerRecord[]): void;
  /** What a runner says about its job. False: it is not, or no longer, its job. */
  start(runner: RunnerRecord, id: number): boolean;
  renew(runner: RunnerRecord, id: number): boolean;
  finish(runner: RunnerRecord, id: number, conclusion: string): boolean;
}

interface JobsOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly faults: GitHubFaults;
  readonly history: History;
  readonly groups: readonly RunnerGroup[];
  readonly runners: () => Runners;
}

export const createJobs = ({ clock, timers, random, faults, history, groups, runners }: JobsOptions): Jobs => {
  const jobs: JobRecord[] = [];
  /** What happens to a job if nothing is heard. */
  const deadlines = new Map<JobRecord, () => void>();
  let lastID = 4000;

  const note = (
    what: 'assigned' | 'queued again' | 'started' | 'finished' | 'lost' | 'expired',
    job: JobRecord,
  ): void =>
    history.note({
      what: `job ${what}`,
      job: job.id,
      ...(job.runner === undefined ? {} : { runner: job.runner.name }),
      ...(job.conclusion === undefined ? {} : { why: job.conclusion }),
    });
  const expectWithin = (job: JobRecord, milliseconds: number, otherwise: (job: JobRecord) => void): void => {
    deadlines.get(job)?.();
    deadlines.set(
      job,
      timers.after(milliseconds, () => otherwise(job)),
    );
  };
  const complete = (job: JobRecord, conclusion: string): void => {
    deadlines.get(job)?.();
    deadlines.delete(job);
    job.status = 'completed';
    job.conclusion = conclusion;
    job.completedAt = clock.now();
  };
  const isWaiting = (job: JobRecord): boolean => job.status === 'queued' && job.runner === undefined;

  const expire = (job: JobRecord): void => {
    complete(job, 'failure');
    note('expired', job);
  };
  const release = (runner: RunnerRecord): void => {
    runner.job = undefined;
    runner.busySince = undefined;
  };
  const queueAgain = (job: JobRecord): void => {
    note('queued again', job);
    if (job.runner !== undefined) release(job.runner);
    job.runner = undefined;
    expectWithin(job, Math.max(0, job.queuedAt + longestInQueue - clock.now()), expire);
    assign();
  };
  const lose = (job: JobRecord): void => {
    complete(job, 'failure');
    job.lost = true;
    note('lost', job);
    if (job.runner === undefined) return;
    release(job.runner);
    // It is dropped from the list (`actions/runner#4703`). Others come back when they come back.
    if (job.runner.isEphemeral || job.runner.isRemoved) runners().remove(job.runner, 'job lost');
  };

  const assign = (): void => {
    if (faults.outage.actions !== undefined) return;
    for (const job of jobs.filter(isWaiting)) {
      // Any that fits, and not the one that somebody had in mind for it.
      const free = runners()
        .all()
        .filter((each) => each.isOnline && !isBusy(each) && each.session?.tell && covers(each, job, groups));
      const runner = free[Math.floor(random() * free.length)];
      if (runner === undefined) continue;
      job.runner = runner;
      runner.job = job;
      runner.busySince = clock.now();
      note('assigned', job);
      expectWithin(job, longestUntilPickedUp, queueAgain);
      runner.session?.tell?.(job);
    }
  };
  const queue = (wanted: JobWanted): JobRecord => {
    lastID += 1;
    const job: JobRecord = {
      ...wanted,
      id: lastID,
      runID: wanted.runID ?? lastID + 1_000_000,
      name: wanted.name ?? 'build',
      queuedAt: clock.now(),
      status: 'queued',
      conclusion: undefined,
      startedAt: undefined,
      completedAt: undefined,
      runner: undefined,
      lost: false,
    };
    jobs.push(job);
    history.note({ what: 'job queued', job: job.id });
    expectWithin(job, longestInQueue, expire);
    assign();
    return job;
  };
  const own = (runner: RunnerRecord, id: number): JobRecord | undefined =>
    runner.job?.id === id ? runner.job : undefined;

  return {
    all: () => jobs,
    queue,
    assign,
    shownIdle: (shown) => {
      const fitting = faults.jobsAfterIdle.filter((wanted) => shown.some((runner) => covers(runner, wanted, groups)));
      for (const wanted of fitting) {
        faults.jobsAfterIdle.splice(faults.jobsAfterIdle.indexOf(wanted), 1);
        queue(wanted);
      }
    },
    start: (runner, id) => {
      const job = own(runner, id);
      if (job === undefined) return false;
      if (job.status === 'queued') {
        job.status = 'in_progress';
        job.startedAt = clock.now();
        note('started', job);
      }
      expectWithin(job, lease, lose);
      return true;
    },
    renew: (runner, id) => {
      const job = own(runner, id);
      if (job === undefined || job.status !== 'in_progress') return false;
      expectWithin(job, lease, lose);
      return true;
    },
    finish: (runner, id, conclusion) => {
      const job = own(runner, id);
      if (job === undefined || job.status !== 'in_progress') return false;
      complete(job, conclusion);
      note('finished', job);
      runner.job = undefined;
      if (runner.isEphemeral && faults.lingersFor > 0 && !runner.isRemoved) {
        runners().disconnect(runner);
        timers.after(faults.lingersFor, () => runners().remove(runner, 'job done'));
      } else if (runner.isEphemeral || runner.isRemoved) {
        runners().remove(runner, 'job done');
      } else {
        release(runner);
        assign();
      }
      return true;
    },
  };
};
