import { annotations, type conditionsByKind, runnerBusyCondition } from '@tartan/api';
import { getCondition } from '@tartan/kube';
import { z } from 'zod';
import { waitingReasonOf } from '../cluster/macs.ts';
import type { Pod } from '../cluster/state.ts';
import { meaningOf } from '../explain/explanation.ts';
import { documentSchema, fill, nullable } from '../output/view.ts';
import type { Pool } from './read-runners.ts';

/** States of a pool, the most severe first. The first that applies is shown. */
export const poolStates = [
  'unseen',
  'deleting',
  'no github',
  'github away',
  'starved',
  'saturated',
  'no room',
  'stuck',
  'rolling',
  'draining',
  'filling',
  'ready',
] as const;

export const poolSchema = z.object({
  namespace: z.string(),
  pool: z.string(),
  fleet: z.string().describe('The fleet whose Macs run the Pods.'),
  image: z.string(),
  github: nullable(z.string(), 'The organisation or repository that its runners belong to.'),
  wanted: z.number(),
  alive: nullable(z.number(), 'Pods that have not ended.'),
  warm: nullable(z.number(), 'Pods that wait for a job.'),
  busy: nullable(z.number(), 'Pods that have a job, or may have one.'),
  retiring: nullable(z.number(), 'Pods that get no more jobs, and are about to end.'),
  stale: nullable(z.number(), 'Pods with an outdated image.'),
  stuck: nullable(z.number(), 'Pods that did not start, or do not terminate.'),
  stuckSince: nullable(z.string(), 'When the oldest of those got stuck.'),
  queue: nullable(
    z.object({
      jobs: z.number(),
      oldestSince: nullable(z.string(), 'When the oldest job was queued.'),
      observedAt: z.string().describe('When the controller read GitHub.'),
    }),
    'Queued jobs for these runners. null: unknown.',
  ),
  reaped: nullable(z.number(), 'Total number of ended Pods that were deleted.'),
  state: z.enum(poolStates),
  why: z.string().describe('The state as a sentence.'),
  also: z.array(z.string()).describe('Other states that apply.'),
});

const podSchema = z.object({
  name: z.string(),
  node: nullable(z.string()),
  phase: z.string().describe('Phase of the Pod, or Terminating.'),
  waiting: nullable(z.string(), 'The waiting reason that the agent reports.'),
  job: z.enum(['none', 'started', 'unknown']).describe('As the guest reports it to the agent.'),
  runnerID: nullable(z.number(), 'The runner at GitHub. null: not registered yet, so it has no job.'),
  retiredSince: nullable(z.string(), 'Since when GitHub assigns it no more jobs.'),
  stale: z.boolean().describe('The Pod has an outdated image.'),
  createdAt: nullable(z.string()),
});

const finishedSchema = z.object({
  name: z.string(),
  node: nullable(z.string()),
  hadJob: nullable(z.boolean(), 'null: unknown.'),
  exitCode: nullable(z.number()),
  reason: nullable(z.string()),
  startedAt: nullable(z.string()),
  finishedAt: nullable(z.string()),
});

export const runnersDocument = documentSchema('tartan.runners/v1', {
  pools: z.array(poolSchema),
  pods: nullable(z.array(podSchema), 'Of the named pool. null: no pool is named, or Pods may not be read.'),
  finished: nullable(z.array(finishedSchema), 'The last Pods of the named pool that ended; the latest first.'),
});

export type RunnersDocument = z.infer<typeof runnersDocument>;
export type PoolRow = z.infer<typeof poolSchema>;
export type PodRow = z.infer<typeof podSchema>;
type FinishedRow = z.infer<typeof finishedSchema>;

type State = (typeof poolStates)[number];

interface PoolState {
  readonly state: State;
  readonly why: string;
  /** Other states that apply, the most severe first. */
  readonly also: readonly State[];
}

type ReadyReason = keyof typeof conditionsByKind.RunnerPool.Ready.reasons;

const byReadyReason: Readonly<Record<ReadyReason, State>> = {
  Converged: 'ready',
  Filling: 'filling',
  NoRoom: 'no room',
  Draining: 'draining',
  Rolling: 'rolling',
  NoGitHub: 'no github',
  GitHubUnavailable: 'github away',
  Deleting: 'deleting',
};
const isReadyReason = (reason: string): reason is ReadyReason => Object.hasOwn(byReadyReason, reason);

const unseenPool: PoolState = {
  state: 'unseen',
  why: 'No controller has observed the pool yet. Check that the runners controller runs, and in this namespace (runnersController.enabled=true in the chart).',
  also: [],
};

/** The state of a pool by its conditions. Pure and total. */
export const poolStateOf = ({ metadata, status }: Pool): PoolState => {
  const reasons = (['Ready', 'GitHubReachable', 'JobsWaiting', 'Stuck'] as const).flatMap((type) => {
    const condition = getCondition(status?.conditions, type);
    const state = condition && stateIn(type, condition.status, condition.reason);
    if (condition === undefined || state === undefined) return [];
    const means = meaningOf('RunnerPool', type, condition.reason) ?? '';
    return [{ state, why: condition.message || means || condition.reason }];
  });
  if (metadata.deletionTimestamp !== undefined && !reasons.some(({ state }) => state === 'deleting'))
    reasons.push({ state: 'deleting', why: meaningOf('RunnerPool', 'Ready', 'Deleting') ?? '' });
  const sorted = reasons.toSorted((a, b) => poolStates.indexOf(a.state) - poolStates.indexOf(b.state));
  // Two conditions report an unreachable GitHub; the last one has the cause.
  const [first, ...others] = sorted.filter(
    ({ state }, at) => sorted.findLastIndex((each) => each.state === state) === at,
  );
  if (first === undefined) return unseenPool;
  return { ...first, also: others.map(({ state }) => state).filter((state) => state !== 'ready') };
};

const stateIn = (type: string, status: string, reason: string): State | undefined => {
  switch (type) {
    case 'Ready':
      if (isReadyReason(reason)) return byReadyReason[reason];
      return status === 'True' ? 'ready' : 'filling';
    case 'GitHubReachable':
      return status === 'False' ? 'github away' : undefined;
    case 'JobsWaiting':
      if (status !== 'True') return undefined;
      return reason === 'Starved' ? 'starved' : 'saturated';
    default:
      return status === 'True' ? 'stuck' : undefined;
  }
};

export const jobOf = ({ status }: Pod): PodRow['job'] => {
  const isBusy = status?.conditions?.find(({ type }) => type === runnerBusyCondition)?.status;
  return isBusy === 'True' ? 'started' : isBusy === 'False' ? 'none' : 'unknown';
};

export const runnerIDOf = ({ metadata }: Pod): number | undefined => {
  const id = Number(metadata.annotations?.[annotations.runnerID] ?? Number.NaN);
  return Number.isSafeInteger(id) ? id : undefined;
};

export const retiredSinceOf = ({ metadata }: Pod): string | undefined =>
  metadata.annotations?.[annotations.runnerRetired];

export const podRowOf = (pod: Pod, pool: Pool | undefined): PodRow => {
  const { metadata, spec, status } = pod;
  return fill(podSchema, {
    name: metadata.name,
    node: spec?.nodeName,
    phase: metadata.deletionTimestamp === undefined ? (status?.phase ?? 'Pending') : 'Terminating',
    waiting: waitingReasonOf(pod)?.reason,
    job: jobOf(pod),
    runnerID: runnerIDOf(pod),
    retiredSince: retiredSinceOf(pod),
    stale: pool !== undefined && spec?.containers?.[0]?.image !== pool.spec.image,
    createdAt: metadata.creationTimestamp,
  });
};

export const finishedRowsOf = ({ status }: Pool): FinishedRow[] =>
  (status?.finished ?? []).map((finished) => fill(finishedSchema, finished));
