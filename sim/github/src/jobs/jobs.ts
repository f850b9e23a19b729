import type { Clock, Random } from '@tartan/kube/clock';
import { isSameName } from '../app/installation.ts';
import type { EventLog } from '../deps.ts';
import type { GitHubFaults } from '../github.ts';
import { isBusy, type RunnerGroup, type RunnerRecord } from '../runners/runner.ts';
import type { Runners } from '../runners/runners.ts';
import type { Timers } from '../timers.ts';

/** A job of a workflow. */
export interface JobRequest {
  /** `acme/app`. */
  readonly repository: string;
  /** Those of `runs-on`: a runner must have all of them. */
  readonly labels: readonly string[];
  /** Name of the runner group of `runs-on`. */
  readonly group?: string;
  readonly name?: string;
  /** An existing run. Default: a new one. */
  readonly runID?: number;
}

export interface JobRecord extends JobRequest {
  readonly id: number;
  readonly runID: number;
  readonly name: string;
  readonly queuedAt: number;
  status: 'queued' | 'in_progress' | 'completed';
  conclusion: string | undefined;
  startedAt: number | undefined;
  completedAt: number | undefined;
  /** The assigned runner, also before it has reported the start. */
  runner: RunnerRecord | undefined;
  /** Its runner disappeared. */
  lost: boolean;
}

/** "Routing precedence for self-hosted runners": a job without a runner fails after a day. */
const maxQueueMs = 24 * 3_600_000;
/** The same page: a runner that does not start a job within this time loses it to others. */
const maxPickUpMs = 60_000;
/** Runners renew every minute, and a lease lasts ten (`actions/runner#3539`, `#4703`). */
const leaseMs = 10 * 60_000;

/** Whether a runner may get a job: it needs all labels (case does not matter), and its group must serve the repository. */
const canRunJob = (runner: RunnerRecord, job: JobRequest, groups: readonly RunnerGroup[]): boolean => {
  if (!job.labels.every((label) => runner.labels.some(({ name }) => isSameName(name, label)))) return false;
  const group = groups.find(({ id }) => id === runner.groupID);
  if (job.group !== undefined && (group === undefined || !isSameName(group.name, job.group))) return false;
  if (isSameName(runner.owner, job.repository)) return true;
  const [account = '', repository = ''] = job.repository.split('/');
  return (
    isSameName(runner.owner, account) &&
    (group?.repositories ?? [repository]).some((name) => isSameName(name, repository))
  );
};

/** Jobs from queueing to completion. */
export interface Jobs {
  all(): readonly JobRecord[];
  queue(wanted: JobRequest): JobRecord;
  /** Assigns queued jobs to free runners. */
  assign(): void;
  /** An answer has just shown these as idle. */
  onShownIdle(runners: readonly RunnerRecord[]): void;
  /** Reports of a runner about its job. False: it is not, or no longer, its job. */
  start(runner: RunnerRecord, id: number): boolean;
  renew(runner: RunnerRecord, id: number): boolean;
  finish(runner: RunnerRecord, id: number, conclusion: string): boolean;
}

interface JobsOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly faults: GitHubFaults;
  readonly history: EventLog;
  readonly groups: readonly RunnerGroup[];
  readonly runners: () => Runners;
}

export const createJobs = ({ clock, timers, random, faults, history, groups, runners }: JobsOptions): Jobs => {
  const jobs: JobRecord[] = [];
  /** What happens to a job without a report in time. */
  const deadlines = new Map<JobRecord, () => void>();
  let lastID = 4000;

  const recordEvent = (
    what: 'assigned' | 'queued again' | 'started' | 'finished' | 'lost' | 'expired',
    job: JobRecord,
  ): void =>
    history.record({
      type: `job ${what}`,
      job: job.id,
      ...(job.runner === undefined ? {} : { runner: job.runner.name }),
      ...(job.conclusion === undefined ? {} : { reason: job.conclusion }),
    });
  const setDeadline = (job: JobRecord, milliseconds: number, otherwise: (job: JobRecord) => void): void => {
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
    recordEvent('expired', job);
  };
  const release = (runner: RunnerRecord): void => {
    runner.job = undefined;
    runner.busySince = undefined;
  };
  const queueAgain = (job: JobRecord): void => {
    recordEvent('queued again', job);
    if (job.runner !== undefined) release(job.runner);
    job.runner = undefined;
    setDeadline(job, Math.max(0, job.queuedAt + maxQueueMs - clock.now()), expire);
    assign();
  };
  const markLost = (job: JobRecord): void => {
    complete(job, 'failure');
    job.lost = true;
    recordEvent('lost', job);
    if (job.runner === undefined) return;
    release(job.runner);
    // It is removed from the list (`actions/runner#4703`). Others stay and may reconnect.
    if (job.runner.isEphemeral || job.runner.isRemoved) runners().remove(job.runner, 'job lost');
  };

  const assign = (): void => {
    if (faults.outage.actions !== undefined) return;
    for (const job of jobs.filter(isWaiting)) {
      // Any runner that fits, not the one that was created for the job.
      const free = runners()
        .all()
        .filter((each) => each.isOnline && !isBusy(each) && each.session?.deliver && canRunJob(each, job, groups));
      const runner = free[Math.floor(random() * free.length)];
      if (runner === undefined) continue;
      job.runner = runner;
      runner.job = job;
      runner.busySince = clock.now();
      recordEvent('assigned', job);
      setDeadline(job, maxPickUpMs, queueAgain);
      runner.session?.deliver?.(job);
    }
  };
  const queue = (wanted: JobRequest): JobRecord => {
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
    history.record({ type: 'job queued', job: job.id });
    setDeadline(job, maxQueueMs, expire);
    assign();
    return job;
  };
  const jobOf = (runner: RunnerRecord, id: number): JobRecord | undefined =>
    runner.job?.id === id ? runner.job : undefined;

  return {
    all: () => jobs,
    queue,
    assign,
    onShownIdle: (shown) => {
      const fitting = faults.jobsAfterIdle.filter((wanted) =>
        shown.some((runner) => canRunJob(runner, wanted, groups)),
      );
      for (const wanted of fitting) {
        faults.jobsAfterIdle.splice(faults.jobsAfterIdle.indexOf(wanted), 1);
        queue(wanted);
      }
    },
    start: (runner, id) => {
      const job = jobOf(runner, id);
      if (job === undefined) return false;
      if (job.status === 'queued') {
        job.status = 'in_progress';
        job.startedAt = clock.now();
        recordEvent('started', job);
      }
      setDeadline(job, leaseMs, markLost);
      return true;
    },
    renew: (runner, id) => {
      const job = jobOf(runner, id);
      if (job === undefined || job.status !== 'in_progress') return false;
      setDeadline(job, leaseMs, markLost);
      return true;
    },
    finish: (runner, id, conclusion) => {
      const job = jobOf(runner, id);
      if (job === undefined || job.status !== 'in_progress') return false;
      complete(job, conclusion);
      recordEvent('finished', job);
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
