import type { RunnerPoolStatus } from '@tartan/api';
import type { Live } from '@tartan/kube';
import type { RunResult } from '../../metrics/run-counters.ts';
import { containerName } from '../pod-template.ts';
import { hadJob, type Pod } from '../snapshot.ts';

/** What is kept of a Pod that has ended. */
export type FinishedPod = NonNullable<RunnerPoolStatus['finished']>[number];

/** As many as `status.finished` may hold. */
export const maxFinished = 50;

/**
 * Who has ended, to be written before they are deleted. A Pod is counted once: one that is written down already was about to be deleted
 * when somebody crashed. So no more than the list holds may be told at a time, and the last told stand in front.
 */
export const recordFinished = (
  previous: RunnerPoolStatus | undefined,
  ended: readonly FinishedPod[],
): { readonly finished: readonly FinishedPod[]; readonly reaped: number } => {
  const before = previous?.finished ?? [];
  const known = new Set(before.map(({ uid }) => uid));
  const added: FinishedPod[] = [];
  for (const pod of ended) {
    if (known.has(pod.uid)) continue;
    known.add(pod.uid);
    added.push(pod);
  }
  const latestFirst = added.sort((a, b) => endOf(b) - endOf(a) || (a.uid < b.uid ? -1 : 1));
  return {
    finished: [...latestFirst, ...before].slice(0, maxFinished),
    reaped: (previous?.reaped ?? 0) + added.length,
  };
};

const endOf = ({ finishedAt }: FinishedPod): number => (finishedAt === undefined ? 0 : Date.parse(finishedAt));

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
