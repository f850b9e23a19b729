import type { RunnerPoolStatus } from '@tartan/api';

/** What is kept of a Pod that has ended. */
export type FinishedPod = NonNullable<RunnerPoolStatus['finished']>[number];

/** As many as `status.finished` may hold. */
export const mostFinished = 50;

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
  const news: FinishedPod[] = [];
  for (const pod of ended) {
    if (known.has(pod.uid)) continue;
    known.add(pod.uid);
    news.push(pod);
  }
  const latestFirst = news.sort((a, b) => endOf(b) - endOf(a) || (a.uid < b.uid ? -1 : 1));
  return {
    finished: [...latestFirst, ...before].slice(0, mostFinished),
    reaped: (previous?.reaped ?? 0) + news.length,
  };
};

const endOf = ({ finishedAt }: FinishedPod): number => (finishedAt === undefined ? 0 : Date.parse(finishedAt));
