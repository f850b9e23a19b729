import type { PodWaitReason } from '@tartan/api';
import { timestamp } from '@tartan/kube/clock';
import type { Ending, VmRecord } from '../journal/record.ts';
import type { Decision } from './decision.ts';
import { wantsRestart } from './restart.ts';
import { isTerminal, type Pod, type PodStatus, type Snapshot } from './snapshot.ts';

export type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];
type ContainerState = NonNullable<ContainerStatus['state']>;

/** As the kubelet: a message is for people to read, and lies in every copy of the Pod. */
const mostCharacters = 4096;

/** The end of a text: what went wrong is told last. */
export const shortened = (message: string): string =>
  message.length <= mostCharacters ? message : `…${message.slice(1 - mostCharacters)}`;

const containerIDOf = (vm: string): string => `tart://${vm}`;

const terminated = (vm: string, ending: Ending): ContainerState => {
  const { exitCode, finishedAt, message, reason, startedAt } = ending;
  return {
    terminated: {
      containerID: containerIDOf(vm),
      exitCode,
      reason,
      ...(message !== undefined && { message: shortened(message) }),
      // Both are always there: billing reads them (INC-32). One that never began took no time.
      startedAt: timestamp(startedAt ?? finishedAt),
      finishedAt: timestamp(finishedAt),
    },
  };
};

const waiting = (reason: PodWaitReason, message?: string): ContainerState => ({
  waiting: { reason, ...(message !== undefined && { message: shortened(message) }) },
});

/** What it waits for, where the decision tells: closed, so that a new one must say. `undefined`: as before. */
const waitingBy = (decision: Decision): ContainerState | undefined => {
  switch (decision.kind) {
    case 'wait':
      return waiting(decision.for.reason, decision.for.message);
    case 'leave':
      return waiting('NotForMacs', decision.message);
    case 'take back start':
      return waiting('TartCreateFailed', decision.message);
    case 'add finalizer':
      return waiting('ContainerCreating');
    case 'pull':
      return waiting('Pulling');
    case 'clone':
    case 'configure':
    case 'restart':
      return waiting('Cloning');
    case 'boot':
      return waiting('Booting');
    case 'adopt':
    case 'wait for address':
    case 'running':
      return waiting('WaitingForIP', 'The virtual machine is on and has no address yet.');
    // Of a Pod that we do not run the container is nobody's.
    case 'reject':
    case 'await finalizer':
    case 'rest':
    case 'stop gracefully':
    case 'wait for shutdown':
    case 'stop hard':
    case 'end':
    case 'delete VM':
    case 'finish status':
    case 'remove finalizer':
    case 'delete Pod':
    case 'forget':
      return undefined;
  }
};

const stateOf = (pod: Pod, record: VmRecord | undefined, decision: Decision, before: ContainerState | undefined) => {
  const told = waitingBy(decision);
  const ended = record?.state.kind === 'ended' ? record.state.ending : undefined;
  if (record !== undefined && ended !== undefined) {
    const final =
      decision.kind === 'finish status' ||
      isTerminal(pod) ||
      pod.metadata?.deletionTimestamp !== undefined ||
      !wantsRestart(pod, ended);
    return final ? terminated(record.vm, ended) : (told ?? waiting('CrashLoopBackOff', `It ended (${ended.reason}).`));
  }
  // A look that failed takes nothing back of what is known (G10).
  if (record?.state.kind === 'running' && (record.state.address !== undefined || decision.kind === 'running'))
    return { running: { startedAt: timestamp(record.state.since) } };
  return told ?? before ?? waiting('ContainerCreating');
};

/** The one container, always there: a Pod without it shows as 0/1 for no reason (INC-31). */
export const containerStatusOf = (snapshot: Snapshot, pod: Pod, decision: Decision): ContainerStatus => {
  const record = snapshot.record === 'unreadable' ? undefined : snapshot.record;
  const before = pod.status?.containerStatuses?.[0];
  const [container] = pod.spec?.containers ?? [];
  const state = stateOf(pod, record, decision, before?.state);
  const isRunning = 'running' in state && state.running !== undefined;
  const lastState = record?.previous === undefined ? before?.lastState : terminated(record.vm, record.previous);
  const between =
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
    ...(between !== undefined && { lastState: between }),
  };
};
