import type { PodEndReason, PodWaitReason } from '@tartan/api';
import { timestamp } from '@tartan/kube/clock';
import { containerStatusOf, shortened } from './container-status.ts';
import type { Decision } from './decision.ts';
import { endReasons } from './ending.ts';
import { podConditions } from './pod-conditions.ts';
import { runnerBusyClaims } from './runner-busy.ts';
import { isTerminal, isThere, type Pod, type PodStatus, type Snapshot } from './snapshot.ts';

type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

/** A phase never goes back: not when an address is lost (G10), not during a restart, and never from an end (INC-18). */
const phaseOf = (pod: Pod, record: Snapshot['record'], decision: Decision, isRunning: boolean): Phase => {
  const before = pod.status?.phase;
  // As for the kubelet: also one whose runs were all too short to be seen running.
  const hasRun = typeof record === 'object' && (record.run > 0 || record.state.kind === 'ended');
  if (before === 'Succeeded' || before === 'Failed') return before;
  if (decision.kind === 'reject') return 'Failed';
  if (decision.kind === 'finish status') return decision.ending.exitCode === 0 ? 'Succeeded' : 'Failed';
  return isRunning || hasRun || before === 'Running' ? 'Running' : 'Pending';
};

const createFailed: PodWaitReason = 'TartCreateFailed';

/** Why the Pod as a whole is as it is. Other programs match these reasons by value. */
const explanation = (pod: Pod, decision: Decision): { reason?: string; message?: string } => {
  const about = (reason: PodWaitReason | PodEndReason, message = '') => ({
    reason,
    ...(message !== '' && { message: shortened(message) }),
  });
  if (isTerminal(pod)) {
    const { message, reason } = pod.status ?? {};
    return { ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) };
  }
  if (decision.kind === 'finish status') {
    const { exitCode, message = `The guest reported ${exitCode}.`, reason } = decision.ending;
    return about(reason === endReasons.deadline ? endReasons.deadline : endReasons.exited, message);
  }
  if (decision.kind === 'reject') return about(decision.reason, decision.message);
  if (decision.kind === 'leave') return about('NotForMacs', decision.message);
  if (decision.kind === 'take back start') return about(createFailed, decision.message);
  return decision.kind === 'wait' && decision.for.reason === createFailed
    ? about(createFailed, decision.for.message)
    : {};
};

const addresses = (pod: Pod, snapshot: Snapshot, decision: Decision, hostIP: string | undefined) => {
  const state = typeof snapshot.record === 'object' ? snapshot.record.state : undefined;
  const known = state?.kind === 'running' ? state.address : undefined;
  const podIP = decision.kind === 'running' ? decision.address : (known ?? pod.status?.podIP);
  return {
    ...(hostIP !== undefined && { hostIP, hostIPs: [{ ip: hostIP }] }),
    ...(podIP !== undefined && { podIP, podIPs: [{ ip: podIP }] }),
  };
};

/**
 * The status of a Pod as it is to be, whole: what others wrote in it stays. Pure, and the same again for what it gave before.
 * `undefined` for a Pod that is gone.
 */
export const statusOf = (snapshot: Snapshot, decision: Decision, hostIP: string | undefined): PodStatus | undefined => {
  const { now, pod } = snapshot;
  if (!isThere(pod)) return undefined;
  const { message: _message, reason: _reason, ...before } = pod.status ?? {};
  const container = containerStatusOf(snapshot, pod, decision);
  const isRunning = container.state?.running !== undefined && !isTerminal(pod);
  const phase = phaseOf(pod, snapshot.record, decision, isRunning);
  return {
    ...before,
    phase,
    ...explanation(pod, decision),
    // A Pod that is not for us was not taken on.
    ...(decision.kind !== 'leave' && { startTime: before.startTime ?? timestamp(now) }),
    ...addresses(pod, snapshot, decision, hostIP ?? before.hostIP),
    conditions: podConditions(pod, phase, isRunning, now, runnerBusyClaims(snapshot, pod)),
    // Of a Pod that we do not run the container is nobody's.
    ...(decision.kind !== 'reject' && pod.spec?.containers.length === 1 && { containerStatuses: [container] }),
  };
};
