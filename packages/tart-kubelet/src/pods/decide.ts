import { finalizers, type PodWaitReason } from '@tartan/api';
import { hasFinalizer, type Live } from '@tartan/kube';
import { isSameProcess, type ProcessIdentity, type TartReason } from '@tartan/tart';
import type { Termination, VmRecord } from '../journal/journal.ts';
import { isPresent, isTerminal, type Pod, readableRecord, type Snapshot, type Vm } from './snapshot.ts';
import { admit } from './spec/admission.ts';
import {
  deadlineMessage,
  deadlineOf,
  deadlineTermination,
  restartAt,
  shouldRestart,
  terminationOf,
} from './termination.ts';

/** What the Pod waits for, as its container's waiting reason says it. */
type WaitingState = { readonly reason: PodWaitReason; readonly message: string };

/** The one next thing to do for a Pod. Each is safe to repeat, and each is written to the journal first where it says so. */
export type Decision =
  | {
      readonly kind: /** Nothing to do until something changes. */
        | 'none'
        | 'add finalizer'
        | 'pull'
        /** Journal `cloning`, then the clone under a name that is free. */
        | 'clone'
        /** The mark, a new identity and the size; then journal `configured`. */
        | 'configure'
        /** Journal `starting`, then the console session, env and token, `tart run`, journal `running`. */
        | 'boot'
        | 'wait for address'
        | 'force stop'
        /** Its disk, and env and tokens that lie beside it. Never of one that is on. */
        | 'delete VM'
        | 'remove finalizer'
        /** With no grace, as a kubelet confirms that everything is gone (INC-14). */
        | 'delete Pod'
        /** Logs and, last, the journal's record. */
        | 'delete record';
    }
  | { readonly kind: 'wait'; readonly for: WaitingState; readonly until?: number | undefined }
  /** Not for Macs: it stays Pending with the reason. */
  | { readonly kind: 'ignore'; readonly message: string }
  /** Fails it for good. Nothing of it is on. */
  | { readonly kind: 'reject'; readonly reason: 'UnsupportedPod' | 'DeadlineExceeded'; readonly message: string }
  /** A process that runs already is ours: journal `running` with it (INC-30). */
  | { readonly kind: 'adopt'; readonly process: ProcessIdentity }
  /** It runs. `address` is to be remembered if the journal has another. */
  | { readonly kind: 'running'; readonly address: string }
  /** Journal the moment, then ask the guest to shut down. */
  | { readonly kind: 'stop gracefully'; readonly graceMs: number }
  | { readonly kind: 'wait for shutdown'; readonly until: number }
  /** tart refused to start it, and the guest was never on: remove the run's log, then journal `configured`. Not an end. */
  | { readonly kind: 'undo start'; readonly reason: TartReason; readonly message: string }
  /** Journal `ended`: before anything of the run is thrown away. */
  | { readonly kind: 'end'; readonly ending: Termination; readonly image: string }
  /** Journal the next run: `cloning`, with no stop asked for. */
  | { readonly kind: 'restart'; readonly run: number; readonly previous: Termination }
  /** The final phase, and how it ended. */
  | { readonly kind: 'write final status'; readonly ending: Termination };

/** A Snapshot whose Pod is there. */
type SnapshotWithPod = Snapshot & { readonly pod: Live<Pod> };

/** What no other time and no other Mac mends: the Pod, its image or its disk is at fault. Such a start is a run that failed. */
const podStartFaults: ReadonlySet<TartReason> = new Set(['invalid', 'missing', 'already running']);

/**
 * tart ended with an error before the guest was on: it has no address, has reported nothing, and tart wrote nothing of a guest. Its disk
 * is as clean as before, and a Pod that may run only once has not run yet. The words do not matter: macOS says a locked keychain, a
 * missing session and a full Mac in words that change with its versions.
 */
const refusedStart = (snapshot: SnapshotWithPod): Decision | undefined => {
  const { ending, report } = snapshot.lastRun;
  const record = readableRecord(snapshot);
  if (report !== undefined || ending.kind !== 'failed' || record === undefined) return undefined;
  if (record.state.kind === 'running' && record.state.address !== undefined) return undefined;
  const { message, reason } = ending;
  return podStartFaults.has(reason) ? undefined : { kind: 'undo start', reason, message };
};

const decideEnd = (snapshot: SnapshotWithPod): Decision => {
  const refused = refusedStart(snapshot);
  if (refused !== undefined) return refused;
  const image = snapshot.pod.spec?.containers[0]?.image ?? '';
  return { kind: 'end', ending: terminationOf(readableRecord(snapshot), snapshot.lastRun, snapshot.now), image };
};

/** The server's copy says that it has run: a journal that was lost makes no fresh Pod of it (INC-18). */
const hasRun = ({ status }: Pod): boolean =>
  status?.phase === 'Running' ||
  (status?.containerStatuses ?? []).some(
    ({ restartCount, state }) => restartCount > 0 || state?.running !== undefined || state?.terminated !== undefined,
  );

const slotWait = ({ slots }: Snapshot): Decision | undefined =>
  slots.usedByOthers < slots.total
    ? undefined
    : {
        kind: 'wait',
        for: {
          reason: 'WaitingForSlot',
          message: `${slots.usedByOthers} virtual machines run or start on this Mac, and it can run ${slots.total}. This one starts when one of them ends.`,
        },
      };

const imageWait = ({ stage, percent }: Extract<Snapshot['image'], { kind: 'pulling' }>): WaitingState => {
  if (stage === 'cloning') return { reason: 'Cloning', message: 'A base for virtual machines is made of the image.' };
  if (stage === 'freeing space')
    return { reason: 'FreeingSpace', message: 'The disk is full. What nobody needs any more is deleted first.' };
  const reason: PodWaitReason = percent === undefined ? 'Pulling' : `Pulling ${Math.floor(percent)} %`;
  return { reason, message: 'The image is on its way.' };
};

/** Towards a clone: the slot first, so that no disk is made for what cannot start. */
const decideClone = (snapshot: SnapshotWithPod): Decision => {
  const full = slotWait(snapshot);
  if (full !== undefined) return full;
  const { image } = snapshot;
  switch (image.kind) {
    case 'missing':
      return { kind: 'pull' };
    case 'pulling':
      return { kind: 'wait', for: imageWait(image) };
    case 'here':
      return { kind: 'clone' };
  }
};

const decideWithoutRecord = (snapshot: SnapshotWithPod): Decision => {
  const { pod, record, lastRun, vm } = snapshot;
  if (vm.kind === 'running') return { kind: 'adopt', process: vm.process };
  // What cannot be read was written for this UID: it may have ended, and then must not start again.
  if (record === 'unreadable' || hasRun(pod) || lastRun.started) return decideEnd(snapshot);
  return vm.kind === 'missing' ? decideClone(snapshot) : { kind: 'delete VM' };
};

const decideBeforeStart = (snapshot: SnapshotWithPod, state: 'cloning' | 'configured' | 'starting'): Decision => {
  const { lastRun, vm } = snapshot;
  if (vm.kind === 'running') return { kind: 'adopt', process: vm.process };
  if (state === 'starting' && lastRun.started) return decideEnd(snapshot);
  if (vm.kind === 'missing') return decideClone(snapshot);
  return state === 'cloning' ? { kind: 'configure' } : (slotWait(snapshot) ?? { kind: 'boot' });
};

const decideRunning = (snapshot: SnapshotWithPod, state: Extract<VmRecord['state'], { kind: 'running' }>): Decision => {
  const { vm } = snapshot;
  // It ended, perhaps while no agent was there: a container that terminated, never one to start again from its disk (INC-407).
  if (vm.kind !== 'running') return decideEnd(snapshot);
  if (!isSameProcess(vm.process, state.process)) return { kind: 'adopt', process: vm.process };
  const address = vm.address ?? state.address;
  return address === undefined ? { kind: 'wait for address' } : { kind: 'running', address };
};

const decideAfterEnd = (
  snapshot: SnapshotWithPod,
  record: VmRecord,
  { ending }: Extract<VmRecord['state'], { kind: 'ended' }>,
): Decision => {
  const { now, pod, vm } = snapshot;
  if (vm.kind === 'running') return { kind: 'force stop' };
  if (!shouldRestart(pod, ending)) return { kind: 'write final status', ending };
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

const decideByRecord = (snapshot: SnapshotWithPod): Decision => {
  const record = readableRecord(snapshot);
  if (record === undefined) return decideWithoutRecord(snapshot);
  const { state } = record;
  switch (state.kind) {
    case 'cloning':
    case 'configured':
    case 'starting':
      return decideBeforeStart(snapshot, state.kind);
    case 'running':
      return decideRunning(snapshot, state);
    case 'ended':
      return decideAfterEnd(snapshot, record, state);
  }
};

/** Its time is over: a guest that is on is stopped, and the Pod fails. `undefined`: it is not, or the Pod has ended in time. */
const decidePastDeadline = (snapshot: SnapshotWithPod): Decision | undefined => {
  const { now, pod, lastRun, vm } = snapshot;
  const deadline = deadlineOf(pod);
  if (deadline === undefined || now < deadline) return undefined;
  if (vm.kind === 'running') return decideStop(snapshot, gracePeriodMs(pod));
  const record = readableRecord(snapshot);
  if (record?.state.kind === 'ended') {
    const { ending } = record.state;
    return shouldRestart(pod, ending)
      ? { kind: 'write final status', ending: deadlineTermination(pod, ending) }
      : undefined;
  }
  if (!hasUnrecordedEnd(snapshot) || refusedStart(snapshot) !== undefined)
    return { kind: 'reject', reason: 'DeadlineExceeded', message: deadlineMessage(pod) };
  const ending = terminationOf(record, lastRun, now);
  // Once it was asked to stop, it ended because of that: nobody else asks for a Pod that lives.
  if (record?.stopRequestedAt === undefined && ending.finishedAt < deadline) return undefined;
  return { kind: 'end', ending: deadlineTermination(pod, ending), image: record?.image.reference ?? '' };
};

/** Acts that may fail for a reason outside, and are then held back. What ends, saves or takes over something never is. */
const subjectToBackoff: ReadonlySet<Decision['kind']> = new Set(['pull', 'clone', 'configure', 'boot', 'delete VM']);

/**
 * What to do next for a Pod. Pure and total.
 *
 * The order is a contract: whether the Pod is there, **then whether it is being deleted, then whether it has ended** (D4, INC-17), then
 * whether its time is over, and only then what it wants. Nothing is made for a Pod before it has its finalizer (INC-15), and nothing is done
 * while the state of its virtual machine is unknown.
 */
export const decide = (snapshot: Snapshot): Decision => {
  const { now, pod, record, lastFailure, vm } = snapshot;
  if (vm.kind === 'unknown') return { kind: 'wait', for: { reason: 'TartUnreachable', message: vm.message } };
  if (!isPresent(pod) || pod.metadata.deletionTimestamp !== undefined || isTerminal(pod))
    return decideTeardown(snapshot, vm);
  if (record === undefined && vm.kind === 'missing' && !hasRun(pod)) {
    const suitability = admit(pod);
    if (suitability.kind === 'not for Macs') return { kind: 'ignore', message: suitability.message };
    if (suitability.kind === 'unsupported')
      return { kind: 'reject', reason: 'UnsupportedPod', message: suitability.message };
  }
  const overdue = decidePastDeadline({ ...snapshot, pod });
  if (overdue !== undefined) return overdue;
  if (!hasFinalizer(pod, finalizers.vmCleanup)) return { kind: 'add finalizer' };
  const decision = decideByRecord({ ...snapshot, pod });
  if (lastFailure !== undefined && now < lastFailure.retryAt && subjectToBackoff.has(decision.kind)) {
    const { message, reason, retryAt } = lastFailure;
    return { kind: 'wait', for: { reason, message }, until: retryAt };
  }
  return decision;
};

/** How long a Pod must be unknown to the server before its virtual machine goes: one wrong answer ends nobody's job (INC-405). */
const notFoundGraceMs = 2 * 60_000;

type KnownVm = Exclude<Vm, { kind: 'unknown' }>;

/** Somebody took the finalizer away, or the whole cluster forgot: nobody else would ever free the slot (INC-405). */
const decideMissingPod = (snapshot: Snapshot, vm: KnownVm, goneForMs: number): Decision => {
  const { now, record } = snapshot;
  const isSure = goneForMs >= notFoundGraceMs;
  const wait: Decision = {
    kind: 'wait',
    for: { reason: 'PodGone', message: 'The server does not know the Pod.' },
    until: now + notFoundGraceMs - goneForMs,
  };
  // The UID is remembered until it is sure: a server that answers wrongly might show the Pod again.
  if (vm.kind === 'missing') return record !== undefined && !isSure ? wait : { kind: 'delete record' };
  if (!isSure) return wait;
  return { kind: vm.kind === 'running' ? 'force stop' : 'delete VM' };
};

/** A real shutdown of the guest first, and the power cut when its time is over. By our own clock alone: the server's may differ. */
const decideStop = (snapshot: Snapshot, graceMs: number): Decision => {
  const { now } = snapshot;
  const requestedAt = readableRecord(snapshot)?.stopRequestedAt;
  if (graceMs <= 0) return { kind: 'force stop' };
  if (requestedAt === undefined)
    // Without a record there is nowhere to keep when the guest was asked: it would be asked for ever.
    return readableRecord(snapshot) === undefined ? { kind: 'force stop' } : { kind: 'stop gracefully', graceMs };
  const until = requestedAt + graceMs;
  if (now < requestedAt || now >= until) return { kind: 'force stop' };
  // To be asked twice does no harm; a guest that nobody asked would lose its power in the middle of its work.
  if (snapshot.shutdownMaybeUnsent === true) return { kind: 'stop gracefully', graceMs: until - now };
  return { kind: 'wait for shutdown', until };
};

const gracePeriodMs = ({ metadata, spec }: Pod): number =>
  1000 * (metadata?.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? 30);

/** It has been on, and how that ended is not written down yet. */
const hasUnrecordedEnd = (snapshot: Snapshot): boolean => {
  const record = readableRecord(snapshot);
  if (record === undefined) return false;
  return record.state.kind === 'running' || (record.state.kind === 'starting' && snapshot.lastRun.started);
};

const decideTerminatingPod = (snapshot: Snapshot, pod: Live<Pod>, vm: KnownVm): Decision => {
  const { now, lastRun, statusRefused } = snapshot;
  const record = readableRecord(snapshot);
  const deleting = pod.metadata.deletionTimestamp !== undefined;
  if (vm.kind === 'running') return decideStop(snapshot, gracePeriodMs(pod));
  if (hasUnrecordedEnd(snapshot))
    return { kind: 'end', ending: terminationOf(record, lastRun, now), image: record?.image.reference ?? '' };
  if (record?.state.kind === 'ended' && !isTerminal(pod) && statusRefused !== true)
    return { kind: 'write final status', ending: record.state.ending };
  if (vm.kind === 'stopped') return { kind: 'delete VM' };
  // An ended Pod needs nothing of this Mac any more: a Mac that goes away must not leave it immortal (INC-71).
  if (hasFinalizer(pod, finalizers.vmCleanup)) return { kind: 'remove finalizer' };
  return deleting ? { kind: 'delete Pod' } : { kind: 'none' };
};

/** For a Pod that is gone, is being deleted, or has ended: nothing of it starts, and everything of it goes. */
const decideTeardown = (snapshot: Snapshot, vm: KnownVm): Decision =>
  isPresent(snapshot.pod)
    ? decideTerminatingPod(snapshot, snapshot.pod, vm)
    : decideMissingPod(snapshot, vm, snapshot.pod.notFoundForMs);
