import type { RunnerPoolStatus } from '@tartan/api';
import type { Live } from '@tartan/kube';
import type { RunResult } from '../../metrics/run-counters.ts';
import { containerName } from '../pod-template.ts';
import { hadJob, type Pod } from '../snapshot.ts';

/** The record of a Pod that has ended. */
export type FinishedPod = NonNullable<RunnerPoolStatus['finished']>[number];

/** As many as `status.finished` may hold. */
export const maxFinished = 50;

/**
 * Records Pods that have ended, before they are deleted. A Pod is counted once: if it is already in the list, a process crashed before it
 * deleted the Pod. So `ended` has no more Pods than the list holds, and new entries come first.
 */
export const recordFinished = (
  previous: RunnerPoolStatus | undefined,
  ended: readonly FinishedPod[],
): { readonly finished: readonly FinishedPod[]; readonly reaped: number } => {
  const before = previous?.finished ?? [];
  const known = new Set(before.map(({ uid }) => uid));
  const added = [...new Map(ended.map((pod) => [pod.uid, pod])).values()]
    .filter(({ uid }) => !known.has(uid))
    .sort((a, b) => endOf(b) - endOf(a) || (a.uid < b.uid ? -1 : 1));
  return {
    finished: [...added, ...before].slice(0, maxFinished),
    reaped: (previous?.reaped ?? 0) + added.length,
  };
};

const endOf = ({ finishedAt }: FinishedPod): number => (finishedAt === undefined ? 0 : Date.parse(finishedAt));

/** Omits unknown times and reasons. */
export const finishedPodOf = (pod: Live<Pod>): FinishedPod => {
  const ended = pod.status?.containerStatuses?.find(({ name }) => name === containerName)?.state?.terminated;
  const job = hadJob(pod);
  // A Pod that never had a container has the reason in its own status.
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

/** Undefined: unknown. */
export const secondsOf = ({ startedAt, finishedAt }: FinishedPod): number | undefined => {
  const seconds = (Date.parse(finishedAt ?? '') - Date.parse(startedAt ?? '')) / 1000;
  return seconds >= 0 ? seconds : undefined;
};
