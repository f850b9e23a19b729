import { annotations, type conditionsByKind, runnerBusyCondition } from '@tartan/api';
import { getCondition } from '@tartan/kube';
import { z } from 'zod';
import { waitingReasonOf } from '../cluster/macs.ts';
import type { Pod } from '../cluster/state.ts';
import { meaningOf } from '../explain/explanation.ts';
import { documentSchema, nullable } from '../output/view.ts';
import type { Pool } from './read-runners.ts';

/** How a pool is, the worst first: the first one that holds is its state. */
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

const poolSchema = z.object({
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
  stale: nullable(z.number(), 'Pods with another image than is wanted.'),
  stuck: nullable(z.number(), 'Pods that never started, or do not go away.'),
  stuckSince: nullable(z.string(), 'Since when the oldest of those is stuck.'),
  queue: nullable(
    z.object({
      jobs: z.number(),
      oldestSince: nullable(z.string(), 'Since when the oldest job waits.'),
      observedAt: z.string().describe('When the controller read GitHub.'),
    }),
    'Jobs that ask for these runners and have none. null: nobody could tell.',
  ),
  reaped: nullable(z.number(), 'Pods that have ended and were taken away, in all.'),
  state: z.enum(poolStates),
  why: z.string().describe('The state as a sentence.'),
  also: z.array(z.string()).describe('Other states that apply.'),
});

const podSchema = z.object({
  name: z.string(),
  node: nullable(z.string()),
  phase: z.string().describe('Phase of the Pod, or Terminating.'),
  waiting: nullable(z.string(), 'What it waits for, in the word of its agent.'),
  job: z.enum(['none', 'started', 'unknown']).describe('As the guest reports it to the agent.'),
  runnerID: nullable(z.number(), 'The runner at GitHub. null: it was given no configuration yet, so it has no job.'),
  retiredSince: nullable(z.string(), 'Since when GitHub gives it no job any more.'),
  stale: z.boolean().describe('The Pod has an outdated image.'),
  createdAt: nullable(z.string()),
});

const finishedSchema = z.object({
  name: z.string(),
  node: nullable(z.string()),
  hadJob: nullable(z.boolean(), 'null: nobody knows.'),
  exitCode: nullable(z.number()),
  reason: nullable(z.string()),
  startedAt: nullable(z.string()),
  finishedAt: nullable(z.string()),
});

export const runnersDocument = documentSchema('tartan.runners/v1', {
  pools: z.array(poolSchema),
  pods: nullable(z.array(podSchema), 'Of the pool that was named. null: none was, or Pods may not be read.'),
  finished: nullable(z.array(finishedSchema), 'The last that ended, of the pool that was named; the latest first.'),
});

export type RunnersDocument = z.infer<typeof runnersDocument>;
export type PoolRow = z.infer<typeof poolSchema>;
export type PodRow = z.infer<typeof podSchema>;
type FinishedRow = z.infer<typeof finishedSchema>;

type State = (typeof poolStates)[number];

interface PoolState {
  readonly state: State;
  readonly why: string;
  /** What else holds, the worst first. */
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
  why: 'No controller has looked at it yet. Does the runners controller run, and in this namespace? The chart has it with runnersController.enabled=true.',
  also: [],
};

/** How a pool is, and why, by its conditions alone. Pure and total. */
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
  // GitHub that is away is said by two conditions; the one that says how comes with a message of its own.
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
    waiting: waitingReasonOf(pod)?.reason ?? null,
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
