import type { PodEndReason, PodWaitReason } from '@tartan/api';
import type { Live } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { Termination, VmRecord } from '../journal/journal.ts';
import type { PodDeps } from './context.ts';
import type { Decision } from './decide.ts';
import type { PodObservation } from './observe.ts';
import { runnerBusyConditions } from './runner-busy.ts';
import { isPresent, isTerminal, type Pod, type PodStatus, readableRecord, type Snapshot } from './snapshot.ts';
import { shouldRestart, terminationReasons } from './termination.ts';

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];
type ContainerState = NonNullable<ContainerStatus['state']>;

/** The kubelet's limit: a message is for users, and is in every copy of the Pod. */
const maxMessageLength = 4096;

/** Keeps the end of a text, which has the error. */
const truncated = (message: string): string =>
  message.length <= maxMessageLength ? message : `…${message.slice(1 - maxMessageLength)}`;

const containerIDOf = (vm: string): string => `tart://${vm}`;

const terminated = (vm: string, ending: Termination): ContainerState => {
  const { exitCode, finishedAt, message, reason, startedAt } = ending;
  return {
    terminated: {
      containerID: containerIDOf(vm),
      exitCode,
      reason,
      ...(message !== undefined && { message: truncated(message) }),
      // Both are always set: billing reads them (INC-32). A run that never started took no time.
      startedAt: timestamp(startedAt ?? finishedAt),
      finishedAt: timestamp(finishedAt),
    },
  };
};

const waiting = (reason: PodWaitReason, message?: string): ContainerState => ({
  waiting: { reason, ...(message !== undefined && { message: truncated(message) }) },
});

/** The waiting reason by decision. `undefined`: unchanged. */
const waitReasons: Readonly<Record<Exclude<Decision['kind'], 'wait'>, PodWaitReason | undefined>> = {
  ignore: 'NotForMacs',
  'undo start': 'TartCreateFailed',
  'add finalizer': 'ContainerCreating',
  pull: 'Pulling',
  clone: 'Cloning',
  configure: 'Cloning',
  restart: 'Cloning',
  boot: 'Booting',
  adopt: 'WaitingForIP',
  'wait for address': 'WaitingForIP',
  running: 'WaitingForIP',
  // A rejected Pod has no container status.
  reject: undefined,
  none: undefined,
  'stop gracefully': undefined,
  'wait for shutdown': undefined,
  'force stop': undefined,
  end: undefined,
  'delete VM': undefined,
  'write final status': undefined,
  'remove finalizer': undefined,
  'delete Pod': undefined,
  'delete record': undefined,
};

const waitingStateOf = (decision: Decision): ContainerState | undefined => {
  if (decision.kind === 'wait') return waiting(decision.for.reason, decision.for.message);
  const reason = waitReasons[decision.kind];
  if (reason === 'WaitingForIP') return waiting(reason, 'The virtual machine is on and has no address yet.');
  return reason && waiting(reason, 'message' in decision ? decision.message : undefined);
};

const containerStateOf = (
  pod: Pod,
  record: VmRecord | undefined,
  decision: Decision,
  before: ContainerState | undefined,
) => {
  const waitingState = waitingStateOf(decision);
  const ended = record?.state.kind === 'ended' ? record.state.ending : undefined;
  if (record !== undefined && ended !== undefined) {
    const final =
      decision.kind === 'write final status' ||
      isTerminal(pod) ||
      pod.metadata?.deletionTimestamp !== undefined ||
      !shouldRestart(pod, ended);
    return final
      ? terminated(record.vm, ended)
      : (waitingState ?? waiting('CrashLoopBackOff', `It ended (${ended.reason}).`));
  }
  // A failed observation does not revert known state (INC-410).
  if (record?.state.kind === 'running' && (record.state.address !== undefined || decision.kind === 'running'))
    return { running: { startedAt: timestamp(record.state.since) } };
  return waitingState ?? before ?? waiting('ContainerCreating');
};

/** The status of the one container, always present: otherwise the Pod shows as 0/1 without a reason (INC-31). */
const containerStatusOf = (snapshot: Snapshot, pod: Pod, decision: Decision): ContainerStatus => {
  const record = readableRecord(snapshot);
  const before = pod.status?.containerStatuses?.[0];
  const [container] = pod.spec?.containers ?? [];
  const state = containerStateOf(pod, record, decision, before?.state);
  const isRunning = 'running' in state && state.running !== undefined;
  const lastState = record?.previous === undefined ? before?.lastState : terminated(record.vm, record.previous);
  const lastTerminated =
    record?.state.kind === 'ended' && 'waiting' in state ? terminated(record.vm, record.state.ending) : lastState;
  return {
    name: container?.name ?? '',
    image: container?.image ?? '',
    imageID: record?.image.digest ?? before?.imageID ?? '',
    ...(record !== undefined && { containerID: containerIDOf(record.vm) }),
    ready: isRunning,
    started: isRunning,
    restartCount: Math.max(record?.run ?? 0, before?.restartCount ?? 0),
    state,
    ...(lastTerminated !== undefined && { lastState: lastTerminated }),
  };
};

type PodCondition = NonNullable<PodStatus['conditions']>[number];

export interface DesiredCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
}

/** Readiness gates are set by other controllers. */
const unmetReadinessGates = ({ spec, status }: Pod): string[] =>
  (spec?.readinessGates ?? [])
    .map(({ conditionType }) => conditionType)
    .filter((gate) => !status?.conditions?.some(({ type, status: value }) => type === gate && value === 'True'));

/** Why the container is not ready. */
const notReadyReason = (pod: Pod, phase: string): Pick<DesiredCondition, 'reason' | 'message'> => {
  if (phase === 'Succeeded') return { reason: 'PodCompleted' };
  if (phase === 'Failed') return { reason: 'PodFailed' };
  const name = pod.spec?.containers[0]?.name ?? '';
  return { reason: 'ContainersNotReady', message: `containers with unready status: [${name}]` };
};

const desiredConditions = (pod: Pod, phase: string, isRunning: boolean): DesiredCondition[] => {
  const isTrue = (type: string): DesiredCondition => ({ type, status: 'True' });
  const unlessRunning = (type: string): DesiredCondition =>
    isRunning ? isTrue(type) : { type, status: 'False', ...notReadyReason(pod, phase) };
  const gates = unmetReadinessGates(pod);
  const gated: DesiredCondition = {
    type: 'Ready',
    status: 'False',
    reason: 'ReadinessGatesNotReady',
    message: `conditions of the Pod that are not True: [${gates.join(' ')}]`,
  };
  return [
    { type: 'PodReadyToStartContainers', status: isRunning ? 'True' : 'False' },
    { ...isTrue('Initialized'), ...(phase === 'Succeeded' && { reason: 'PodCompleted' }) },
    isRunning && gates.length > 0 ? gated : unlessRunning('Ready'),
    unlessRunning('ContainersReady'),
    isTrue('PodScheduled'),
  ];
};

/** Our conditions and those of others, each with its transition time: without it `minReadySeconds` never elapses (INC-31). */
const podConditions = (
  pod: Pod,
  phase: string,
  isRunning: boolean,
  now: number,
  more: readonly DesiredCondition[] = [],
): PodCondition[] => {
  const before = pod.status?.conditions ?? [];
  const desired = [...desiredConditions(pod, phase, isRunning), ...more];
  const ours = desired.map((condition): PodCondition => {
    const previous = before.find(({ type }) => type === condition.type);
    const since = previous?.status === condition.status ? previous.lastTransitionTime : undefined;
    return { ...condition, lastTransitionTime: since ?? timestamp(now) };
  });
  return [...ours, ...before.filter(({ type }) => !desired.some((claim) => claim.type === type))];
};

type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

/** The phase never goes back: not when an address is lost (INC-410), not during a restart, and never from a final phase (INC-18). */
const phaseOf = (pod: Pod, record: Snapshot['record'], decision: Decision, isRunning: boolean): Phase => {
  const before = pod.status?.phase;
  // As in the kubelet: also for a Pod whose runs were all too short to be seen running.
  const hasRun = typeof record === 'object' && (record.run > 0 || record.state.kind === 'ended');
  if (before === 'Succeeded' || before === 'Failed') return before;
  if (decision.kind === 'reject') return 'Failed';
  if (decision.kind === 'write final status') return decision.ending.exitCode === 0 ? 'Succeeded' : 'Failed';
  return isRunning || hasRun || before === 'Running' ? 'Running' : 'Pending';
};

/** Reason and message of the Pod. Other programs match these reasons by value. */
const reasonAndMessage = (pod: Pod, decision: Decision): { reason?: string; message?: string } => {
  const about = (reason: PodWaitReason | PodEndReason, message = '') => ({
    reason,
    ...(message !== '' && { message: truncated(message) }),
  });
  if (isTerminal(pod)) {
    const { message, reason } = pod.status ?? {};
    return { ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) };
  }
  if (decision.kind === 'write final status') {
    const { exitCode, message = `The guest reported ${exitCode}.`, reason } = decision.ending;
    return about(
      reason === terminationReasons.deadline ? terminationReasons.deadline : terminationReasons.exited,
      message,
    );
  }
  if (decision.kind === 'reject') return about(decision.reason, decision.message);
  const { reason, message } = waitingStateOf(decision)?.waiting ?? {};
  return reason === 'NotForMacs' || reason === 'TartCreateFailed' ? about(reason, message) : {};
};

const addressFields = (pod: Pod, snapshot: Snapshot, decision: Decision, hostIP: string | undefined) => {
  const state = readableRecord(snapshot)?.state;
  const known = state?.kind === 'running' ? state.address : undefined;
  const podIP = decision.kind === 'running' ? decision.address : (known ?? pod.status?.podIP);
  return {
    ...(hostIP !== undefined && { hostIP, hostIPs: [{ ip: hostIP }] }),
    ...(podIP !== undefined && { podIP, podIPs: [{ ip: podIP }] }),
  };
};

/** The complete desired status of a Pod, with the fields of other writers. Pure and idempotent. `undefined` for a missing Pod. */
export const statusOf = (snapshot: Snapshot, decision: Decision, hostIP: string | undefined): PodStatus | undefined => {
  const { now, pod } = snapshot;
  if (!isPresent(pod)) return undefined;
  const { message: _message, reason: _reason, ...before } = pod.status ?? {};
  const container = containerStatusOf(snapshot, pod, decision);
  const isRunning = container.state?.running !== undefined && !isTerminal(pod);
  const phase = phaseOf(pod, snapshot.record, decision, isRunning);
  return {
    ...before,
    phase,
    ...reasonAndMessage(pod, decision),
    // An ignored Pod was not admitted, so it has no start time.
    ...(decision.kind !== 'ignore' && { startTime: before.startTime ?? timestamp(now) }),
    ...addressFields(pod, snapshot, decision, hostIP ?? before.hostIP),
    conditions: podConditions(pod, phase, isRunning, now, runnerBusyConditions(snapshot, pod)),
    // A rejected Pod has no container status.
    ...(decision.kind !== 'reject' && pod.spec?.containers.length === 1 && { containerStatuses: [container] }),
  };
};

/** The status for this observation and decision, on top of what others have written to the Pod meanwhile. */
export const statusFor =
  ({ snapshot, deps }: Pick<PodObservation, 'snapshot'> & { readonly deps: PodDeps }, decision: Decision) =>
  (pod: Live<Pod>): PodStatus | undefined =>
    statusOf({ ...snapshot, pod }, decision, deps.hostIP());
