import type { Live, pods } from '@tartan/kube';

export type Pod = Live<NonNullable<(typeof pods)['ofType']>>;
type PodSpec = NonNullable<Pod['spec']>;
export type Container = PodSpec['containers'][number];
export type Volume = NonNullable<PodSpec['volumes']>[number];
export type Probe = NonNullable<Container['readinessProbe']>;
export type ContainerState = NonNullable<ContainerStatus['state']>;
type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];
type PodStatus = NonNullable<Pod['status']>;

/** The Pod refers to something that does not exist: the kubelet reports it in the state of the container, and retries. */
export class ContainerConfigError extends Error {
  override name = 'ContainerConfigError';
}

/** The kubelet's state of a container. */
export interface ContainerSnapshot {
  readonly name: string;
  readonly image: string;
  readonly state: ContainerState;
  readonly lastState: ContainerState;
  readonly restarts: number;
  /** Passed its startup probe, or has none. */
  readonly started: boolean;
  /** Passes its readiness probe, or has none. */
  readonly ready: boolean;
  readonly id: string;
}

type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

/** Whether a container that has ended is restarted. */
export const shouldRestart = (policy: string | undefined, exitCode: number): boolean =>
  policy === 'Never' ? false : policy === 'OnFailure' ? exitCode !== 0 : true;

export const phaseOf = (policy: string | undefined, containers: readonly ContainerSnapshot[]): Phase => {
  const ended = containers.map(({ state }) => state.terminated?.exitCode);
  const isOver = ended.every((code) => code !== undefined && !shouldRestart(policy, code));
  if (isOver) return ended.every((code) => code === 0) ? 'Succeeded' : 'Failed';
  // Pending only before the first start, not between restarts.
  return containers.some(({ state, restarts, lastState }) => state.waiting && restarts === 0 && !lastState.terminated)
    ? 'Pending'
    : 'Running';
};

const statusOf = ({
  name,
  image,
  state,
  lastState,
  restarts,
  started,
  ready,
  id,
}: ContainerSnapshot): ContainerStatus => ({
  name,
  image,
  imageID: image,
  state,
  lastState,
  restartCount: restarts,
  started: state.running !== undefined && started,
  ready: state.running !== undefined && started && ready,
  ...(id !== '' && { containerID: id }),
});

/** The status of a Pod as a kubelet writes it. */
export const podStatus = (
  pod: Pod,
  containers: readonly ContainerSnapshot[],
  { podIP, hostIP, startTime, now }: { podIP: string; hostIP: string; startTime: string; now: string },
): PodStatus => {
  const containerStatuses = containers.map(statusOf);
  const phase = phaseOf(pod.spec?.restartPolicy, containers);
  const isReady = containerStatuses.every(({ ready }) => ready);
  const before = pod.status?.conditions ?? [];
  const condition = (type: string, holds: boolean, reason?: string) => {
    const status = holds ? 'True' : 'False';
    const known = before.find((each) => each.type === type && each.status === status);
    return {
      type,
      status,
      lastTransitionTime: known?.lastTransitionTime ?? now,
      ...(reason !== undefined && !holds && { reason }),
    };
  };
  const why = phase === 'Succeeded' ? 'PodCompleted' : phase === 'Failed' ? 'PodFailed' : 'ContainersNotReady';
  return {
    phase,
    hostIP,
    hostIPs: [{ ip: hostIP }],
    podIP,
    podIPs: [{ ip: podIP }],
    startTime,
    containerStatuses,
    conditions: [
      condition('PodReadyToStartContainers', true),
      condition('Initialized', true),
      condition('ContainersReady', isReady, why),
      condition('Ready', isReady, why),
    ],
  };
};
