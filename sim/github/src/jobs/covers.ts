import { isSame } from '../app/installation.ts';
import type { RunnerGroup, RunnerRecord } from '../runners/runner.ts';
import type { JobWanted } from './job.ts';

/** Whether a runner may have a job: labels are cumulative and not case sensitive; a group says whose jobs its runners do. */
export const covers = (runner: RunnerRecord, job: JobWanted, groups: readonly RunnerGroup[]): boolean => {
  if (!job.labels.every((label) => runner.labels.some(({ name }) => isSame(name, label)))) return false;
  const group = groups.find(({ id }) => id === runner.groupID);
  if (job.group !== undefined && (group === undefined || !isSame(group.name, job.group))) return false;
  if (isSame(runner.owner, job.repository)) return true;
  const [account = '', repository = ''] = job.repository.split('/');
  return (
    isSame(runner.owner, account) && (group?.repositories ?? [repository]).some((name) => isSame(name, repository))
  );
};
