import { timestamp } from '@tartan/kube/clock';
import type { Pod, PodStatus } from './snapshot.ts';

export type PodCondition = NonNullable<PodStatus['conditions']>[number];

export interface Claim {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
}

const yes = (type: string): Claim => ({ type, status: 'True' });

/** Others may have a say in whether a Pod is ready. */
const openGates = ({ spec, status }: Pod): string[] =>
  (spec?.readinessGates ?? [])
    .map(({ conditionType }) => conditionType)
    .filter((gate) => !status?.conditions?.some(({ type, status: value }) => type === gate && value === 'True'));

const claimsOf = (pod: Pod, phase: string, isRunning: boolean): Claim[] => {
  const name = pod.spec?.containers[0]?.name ?? '';
  const no = (type: string): Claim => {
    if (phase === 'Succeeded') return { type, status: 'False', reason: 'PodCompleted' };
    if (phase === 'Failed') return { type, status: 'False', reason: 'PodFailed' };
    return {
      type,
      status: 'False',
      reason: 'ContainersNotReady',
      message: `containers with unready status: [${name}]`,
    };
  };
  const gates = openGates(pod);
  const gated: Claim = {
    type: 'Ready',
    status: 'False',
    reason: 'ReadinessGatesNotReady',
    message: `conditions of the Pod that are not True: [${gates.join(' ')}]`,
  };
  const ready = gates.length === 0 ? yes('Ready') : gated;
  return [
    isRunning ? yes('PodReadyToStartContainers') : { type: 'PodReadyToStartContainers', status: 'False' },
    phase === 'Succeeded' ? { type: 'Initialized', status: 'True', reason: 'PodCompleted' } : yes('Initialized'),
    isRunning ? ready : no('Ready'),
    isRunning ? yes('ContainersReady') : no('ContainersReady'),
    yes('PodScheduled'),
  ];
};

/**
 * Our conditions with those of others beside them, each with the time since when it says so: without it nothing that counts
 * `minReadySeconds` ever comes to an end (G11).
 */
export const podConditions = (
  pod: Pod,
  phase: string,
  isRunning: boolean,
  now: number,
  more: readonly Claim[] = [],
): PodCondition[] => {
  const before = pod.status?.conditions ?? [];
  const claims = [...claimsOf(pod, phase, isRunning), ...more];
  const ours = claims.map((claim): PodCondition => {
    const old = before.find(({ type }) => type === claim.type);
    const since = old?.status === claim.status ? old.lastTransitionTime : undefined;
    return { ...claim, lastTransitionTime: since ?? timestamp(now) };
  });
  return [...ours, ...before.filter(({ type }) => !claims.some((claim) => claim.type === type))];
};
