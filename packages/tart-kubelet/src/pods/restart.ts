import type { Ending, VmRecord } from '../journal/record.ts';
import { endReasons } from './ending.ts';
import type { Pod } from './snapshot.ts';

/** As the kubelet: 10 s, doubled for each restart, at most 5 min, and from the beginning after a run of 10 min. */
const firstMs = 10_000;
const mostMs = 5 * 60_000;
const goodRunMs = 10 * 60_000;

/** Whether the container is to run again. A policy that is not there is `Always`, as in Kubernetes. */
export const wantsRestart = (pod: Pod, ending: Ending): boolean => {
  if (ending.reason === endReasons.deadline) return false;
  switch (pod.spec?.restartPolicy ?? 'Always') {
    case 'Always':
      return true;
    case 'OnFailure':
      return ending.exitCode !== 0;
    case 'Never':
      return false;
  }
};

/** When the next run may begin. The first restart is at once, as in Kubernetes. */
export const restartAt = ({ run }: Pick<VmRecord, 'run'>, { startedAt, finishedAt }: Ending): number => {
  const ranWell = startedAt !== undefined && finishedAt - startedAt >= goodRunMs;
  if (run === 0 || ranWell) return finishedAt;
  return finishedAt + Math.min(mostMs, firstMs * 2 ** Math.min(run - 1, 16));
};
