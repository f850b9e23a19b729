import type { conditionsByKind } from '@tartan/api';
import { getCondition } from '@tartan/kube';
import { meaningOf } from '../explain/conditions.ts';
import { poolStates } from './document.ts';
import type { Pool } from './observe-runners.ts';

type State = (typeof poolStates)[number];

export interface PoolState {
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

const unseen: PoolState = {
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
  if (first === undefined) return unseen;
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
