import { stat } from 'node:fs/promises';
import type { ContainerName } from '../api/pod-runtime.ts';
import { badRequest } from '../api/problem.ts';
import { olderGeneration, type LogFiles } from '../logs/log-files.ts';
import type { PodView } from '../pods/pod-views.ts';
import type { Run } from '../runs/runs.ts';
import { waitingFor } from './known-container.ts';

/** The run whose log is meant, and where that is. */
export interface RunLog {
  readonly run: Omit<Run, 'vm'>;
  readonly path: string;
}

const isThere = async (path: string): Promise<boolean> => {
  const found = await Promise.allSettled([path, olderGeneration(path)].map((file) => stat(file)));
  return found.some(({ status }) => status === 'fulfilled');
};

/**
 * As a kubelet chooses: the run that is on; else the last one that left a log, also while the next one waits to start; `previous` is the
 * one before the container's present one. Rejects with ApiProblem when there is none.
 */
export const logOf = async (
  files: LogFiles,
  view: PodView,
  { container, pod }: ContainerName,
  previous: boolean,
): Promise<RunLog> => {
  const logOfRun = (number: number): RunLog => {
    const run = { podUID: view.pod.metadata.uid, container, run: number };
    return { run, path: files.pathOf(run) };
  };
  const before = view.run > 0 ? logOfRun(view.run - 1) : undefined;
  const hasBefore = before !== undefined && (await isThere(before.path));
  if (previous) {
    if (before !== undefined && hasBefore) return before;
    throw badRequest(`previous terminated container "${container}" in pod "${pod}" not found`);
  }
  const current = logOfRun(view.run);
  if (view.running !== undefined || (await isThere(current.path))) return current;
  if (before !== undefined && hasBefore) return before;
  const reason = waitingFor(view, container);
  throw badRequest(
    `container "${container}" in pod "${pod}" is waiting to start${reason === undefined ? ' - no logs yet' : `: ${reason}`}`,
  );
};
