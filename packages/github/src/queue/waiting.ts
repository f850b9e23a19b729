import type { Queue } from '../runner-service.ts';
import type { Job } from '../wire/answers.ts';

/**
 * The jobs that a runner with these labels could take. Labels are cumulative and not case sensitive. A job without labels asks for a
 * runner group alone, and is nobody's here.
 */
export const waiting = (jobs: readonly Job[], labels: readonly string[]): Queue => {
  const offered = new Set(labels.map((label) => label.toLowerCase()));
  const ours = jobs.filter(
    (job) =>
      job.status === 'queued' && job.labels.length > 0 && job.labels.every((label) => offered.has(label.toLowerCase())),
  );
  if (ours.length === 0) return { jobs: 0 };
  return { jobs: ours.length, oldestSince: Math.min(...ours.map((job) => Date.parse(job.created_at))) };
};
