import { finalizers, type PodWaitReason } from '@tartan/api';
import { type Live, hasFinalizer } from '@tartan/kube';
import { isSameProcess, type TartReason } from '@tartan/tart';
import type { VmRecord } from '../journal/record.ts';
import { deadlineMessage, deadlineOf, endedByDeadline } from './deadline.ts';
import { decideTeardown, graceOf, isUnsaved, stop } from './decide-teardown.ts';
import type { Decision } from './decision.ts';
import { endingOf } from './ending.ts';
import { restartAt, wantsRestart } from './restart.ts';
import { isTerminal, isThere, type Pod, type Snapshot } from './snapshot.ts';
import { suitabilityOf } from './suitability.ts';

/** A Snapshot whose Pod is there. */
type Present = Snapshot & { readonly pod: Live<Pod> };

/** What no other time and no other Mac mends: the Pod, its image or its disk is at fault. Such a start is a run that failed. */
const faultsOfPod: ReadonlySet<TartReason> = new Set(['invalid', 'missing', 'already running']);

/**
 * tart ended with an error before the guest was on: it has no address, has reported nothing, and tart wrote nothing of a guest. Its disk
 * is as clean as before, and a Pod that may run only once has not run yet. The words do not matter: macOS says a locked keychain, a
 * missing session and a full Mac in words that change with its versions.
 */
const refusedStart = ({ record, remains: { ending, report } }: Present): Decision | undefined => {
  if (report !== undefined || ending.kind !== 'failed' || record === undefined || record === 'unreadable')
    return undefined;
  if (record.state.kind === 'running' && record.state.address !== undefined) return undefined;
  const { message, reason } = ending;
  return faultsOfPod.has(reason) ? undefined : { kind: 'take back start', reason, message };
};

const end = (snapshot: Present): Decision => {
  const refused = refusedStart(snapshot);
  if (refused !== undefined) return refused;
  const record = snapshot.record === 'unreadable' ? undefined : snapshot.record;
  const image = snapshot.pod.spec?.containers[0]?.image ?? '';
  return { kind: 'end', ending: endingOf(record, snapshot.remains, snapshot.now), image };
};

/** The server's copy says that it has run: a journal that was lost makes no fresh Pod of it (G6). */
const hasRun = ({ status }: Pod): boolean =>
  status?.phase === 'Running' ||
  (status?.containerStatuses ?? []).some(
    ({ restartCount, state }) => restartCount > 0 || state?.running !== undefined || state?.terminated !== undefined,
  );

const slotWait = ({ slots }: Snapshot): Decision | undefined =>
  slots.ofOthers < slots.total
    ? undefined
    : {
        kind: 'wait',
        for: {
          reason: 'WaitingForSlot',
          message: `${slots.ofOthers} virtual machines run or start on this Mac, and it can run ${slots.total}. This one starts when one of them ends.`,
        },
      };

const imageWait = ({
  doing,
  percent,
}: Extract<Snapshot['image'], { kind: 'pulling' }>): Extract<Decision, { kind: 'wait' }>['for'] => {
  if (doing === 'cloning') return { reason: 'Cloning', message: 'A base for virtual machines is made of the image.' };
  if (doing === 'freeing space')
    return { reason: 'FreeingSpace', message: 'The disk is full. What nobody needs any more is deleted first.' };
  const reason: PodWaitReason = percent === undefined ? 'Pulling' : `Pulling ${Math.floor(percent)} %`;
  return { reason, message: 'The image is on its way.' };
};

/** Towards a clone: the slot first, so that no disk is made for what cannot start. */
const makeClone = (snapshot: Present): Decision => {
  const full = slotWait(snapshot);
  if (full !== undefined) return full;
  const { image } = snapshot;
  switch (image.kind) {
    case 'missing':
      return { kind: 'pull' };
    case 'pulling':
      return { kind: 'wait', for: imageWait(image) };
    case 'here':
      return { kind: 'clone', digest: image.digest };
  }
};

const withoutRecord = (snapshot: Present): Decision => {
  const { pod, record, remains, vm } = snapshot;
  if (vm.kind === 'running') return { kind: 'adopt', process: vm.process };
  // What cannot be read was written for this UID: it may have ended, and then must not start again.
  if (record === 'unreadable' || hasRun(pod) || remains.started) return end(snapshot);
  return vm.kind === 'missing' ? makeClone(snapshot) : { kind: 'delete VM' };
};

const beforeFirstStart = (snapshot: Present, state: 'cloning' | 'configured' | 'starting'): Decision => {
  const { remains, vm } = snapshot;
  if (vm.kind === 'running') return { kind: 'adopt', process: vm.process };
  if (state === 'starting' && remains.started) return end(snapshot);
  if (vm.kind === 'missing') return makeClone(snapshot);
  return state === 'cloning' ? { kind: 'configure' } : (slotWait(snapshot) ?? { kind: 'boot' });
};

const whileRunning = (snapshot: Present, state: Extract<VmRecord['state'], { kind: 'running' }>): Decision => {
  const { vm } = snapshot;
  // It ended, perhaps while no agent was there: a container that terminated, never one to start again from its disk (G7).
  if (vm.kind !== 'running') return end(snapshot);
  if (!isSameProcess(vm.process, state.process)) return { kind: 'adopt', process: vm.process };
  const address = vm.address ?? state.address;
  return address === undefined ? { kind: 'wait for address' } : { kind: 'running', address };
};

const afterEnd = (
  snapshot: Present,
  record: VmRecord,
  { ending }: Extract<VmRecord['state'], { kind: 'ended' }>,
): Decision => {
  const { now, pod, vm } = snapshot;
  if (vm.kind === 'running') return { kind: 'stop hard' };
  if (!wantsRestart(pod, ending)) return { kind: 'finish status', ending };
  // The next run starts from a clean clone: the name must be free before the journal speaks of that run.
  if (vm.kind !== 'missing') return { kind: 'delete VM' };
  const at = restartAt(record, ending);
  // A clock that was set back must not make it wait for longer than the back-off ever is.
  if (now < at && at - now <= 10 * 60_000) {
    const seconds = Math.ceil((at - now) / 1000);
    return {
      kind: 'wait',
      for: { reason: 'CrashLoopBackOff', message: `It ended (${ending.reason}) and starts again in ${seconds} s.` },
      until: at,
    };
  }
  return { kind: 'restart', run: record.run + 1, previous: ending };
};

const byRecord = (snapshot: Present): Decision => {
  const { record } = snapshot;
  if (record === undefined || record === 'unreadable') return withoutRecord(snapshot);
  const { state } = record;
  switch (state.kind) {
    case 'cloning':
    case 'configured':
    case 'starting':
      return beforeFirstStart(snapshot, state.kind);
    case 'running':
      return whileRunning(snapshot, state);
    case 'ended':
      return afterEnd(snapshot, record, state);
  }
};

/** Its time is over: a guest that is on is stopped, and the Pod fails. `undefined`: it is not, or the Pod has ended in time. */
const pastDeadline = (snapshot: Present): Decision | undefined => {
  const { now, pod, remains, vm } = snapshot;
  const deadline = deadlineOf(pod);
  if (deadline === undefined || now < deadline) return undefined;
  if (vm.kind === 'running') return stop(snapshot, graceOf(pod));
  const record = snapshot.record === 'unreadable' ? undefined : snapshot.record;
  if (record?.state.kind === 'ended') {
    const { ending } = record.state;
    return wantsRestart(pod, ending) ? { kind: 'finish status', ending: endedByDeadline(pod, ending) } : undefined;
  }
  if (!isUnsaved(snapshot) || refusedStart(snapshot) !== undefined)
    return { kind: 'reject', reason: 'DeadlineExceeded', message: deadlineMessage(pod) };
  const ending = endingOf(record, remains, now);
  // Once it was asked to stop, it ended because of that: nobody else asks for a Pod that lives.
  if (record?.stopRequestedAt === undefined && ending.finishedAt < deadline) return undefined;
  return { kind: 'end', ending: endedByDeadline(pod, ending), image: record?.image.reference ?? '' };
};

/** Acts that may fail for a reason outside, and are then held back. What ends, saves or takes over something never is. */
const heldBack: ReadonlySet<Decision['kind']> = new Set(['pull', 'clone', 'configure', 'boot', 'delete VM']);

/**
 * What may be done while the server has not confirmed the finalizer yet. Whatever that leaves is in the journal, and of a Pod that is gone
 * it is collected; nothing of this is on.
 */
const aheadOfFinalizer: ReadonlySet<Decision['kind']> = new Set(['pull', 'clone', 'configure']);

/**
 * What to do next for a Pod. Pure and total.
 *
 * The order is a contract: whether the Pod is there, **then whether it is being deleted, then whether it has ended** (D4, INC-17), then
 * whether its time is over, and only then what it wants. Nothing is done for a Pod before its finalizer is asked for, nothing of it is started before that is there
 * (INC-15), and nothing is done when nobody can tell how its virtual machine is.
 */
export const decide = (snapshot: Snapshot): Decision => {
  const { now, pod, record, trouble, vm } = snapshot;
  if (vm.kind === 'unknown') return { kind: 'wait', for: { reason: 'TartUnreachable', message: vm.why } };
  if (!isThere(pod) || pod.metadata.deletionTimestamp !== undefined || isTerminal(pod))
    return decideTeardown(snapshot, vm);
  if (record === undefined && vm.kind === 'missing' && !hasRun(pod)) {
    const suitability = suitabilityOf(pod);
    if (suitability.kind === 'not for Macs') return { kind: 'leave', message: suitability.message };
    if (suitability.kind === 'unsupported')
      return { kind: 'reject', reason: 'UnsupportedPod', message: suitability.message };
  }
  const overdue = pastDeadline({ ...snapshot, pod });
  if (overdue !== undefined) return overdue;
  const isConfirmed = hasFinalizer(pod, finalizers.vmCleanup);
  if (!isConfirmed && snapshot.finalizerAsked !== true) return { kind: 'add finalizer' };
  const decision = byRecord({ ...snapshot, pod });
  if (!isConfirmed && (trouble !== undefined || !aheadOfFinalizer.has(decision.kind)))
    return { kind: 'await finalizer' };
  if (trouble !== undefined && now < trouble.retryAt && heldBack.has(decision.kind)) {
    const { message, reason, retryAt } = trouble;
    return { kind: 'wait', for: { reason, message }, until: retryAt };
  }
  return decision;
};
