import type { Live } from '@tartan/kube';
import { hadJob } from './facts.ts';
import type { FinishedPod } from './finished.ts';
import type { Pod } from './objects.ts';
import { containerName } from './pod-template.ts';
import type { RunResult } from './pool-metrics.ts';

/** What is kept of a Pod that has ended. A time or a reason that nobody knows is left out. */
export const finishedPodOf = (pod: Live<Pod>): FinishedPod => {
  const ended = pod.status?.containerStatuses?.find(({ name }) => name === containerName)?.state?.terminated;
  const job = hadJob(pod);
  // A Pod that never had a container says it itself.
  const reason = ended?.reason ?? pod.status?.reason;
  return {
    name: pod.metadata.name,
    uid: pod.metadata.uid,
    ...(pod.spec?.nodeName !== undefined && { node: pod.spec.nodeName }),
    ...(job !== undefined && { hadJob: job }),
    ...(ended && { exitCode: ended.exitCode }),
    ...(reason !== undefined && { reason }),
    ...(ended?.startedAt !== undefined && { startedAt: ended.startedAt }),
    ...(ended?.finishedAt !== undefined && { finishedAt: ended.finishedAt }),
  };
};

export const resultOf = ({ status }: Live<Pod>): RunResult => (status?.phase === 'Failed' ? 'failed' : 'succeeded');

/** Undefined: nobody knows. */
export const secondsOf = ({ startedAt, finishedAt }: FinishedPod): number | undefined => {
  const seconds = (Date.parse(finishedAt ?? '') - Date.parse(startedAt ?? '')) / 1000;
  return seconds >= 0 ? seconds : undefined;
};
