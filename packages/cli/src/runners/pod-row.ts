import { annotations, runnerBusyCondition } from '@tartan/api';
import { waitingOf } from '../world/node-facts.ts';
import type { Pod } from '../world/observe.ts';
import type { FinishedRow, PodRow } from './document.ts';
import type { Pool } from './observe-runners.ts';

/** Whether its guest has a job, in the word of its agent. Without one nobody knows. */
export const jobOf = ({ status }: Pod): PodRow['job'] => {
  const said = status?.conditions?.find(({ type }) => type === runnerBusyCondition)?.status;
  return said === 'True' ? 'started' : said === 'False' ? 'none' : 'unknown';
};

export const runnerIDOf = ({ metadata }: Pod): number | undefined => {
  const id = Number(metadata.annotations?.[annotations.runnerID] ?? Number.NaN);
  return Number.isSafeInteger(id) ? id : undefined;
};

export const retiredSinceOf = ({ metadata }: Pod): string | undefined =>
  metadata.annotations?.[annotations.runnerRetired];

export const podRowOf = (pod: Pod, pool: Pool | undefined): PodRow => {
  const { metadata, spec, status } = pod;
  return {
    name: metadata.name,
    node: spec?.nodeName ?? null,
    phase: metadata.deletionTimestamp === undefined ? (status?.phase ?? 'Pending') : 'Terminating',
    waiting: waitingOf(pod)?.reason ?? null,
    job: jobOf(pod),
    runnerID: runnerIDOf(pod) ?? null,
    retiredSince: retiredSinceOf(pod) ?? null,
    stale: pool !== undefined && spec?.containers?.[0]?.image !== pool.spec.image,
    createdAt: metadata.creationTimestamp ?? null,
  };
};

export const finishedRowsOf = ({ status }: Pool): FinishedRow[] =>
  (status?.finished ?? []).map(({ name, node, hadJob, exitCode, reason, startedAt, finishedAt }) => ({
    name,
    node: node ?? null,
    hadJob: hadJob ?? null,
    exitCode: exitCode ?? null,
    reason: reason ?? null,
    startedAt: startedAt ?? null,
    finishedAt: finishedAt ?? null,
  }));
