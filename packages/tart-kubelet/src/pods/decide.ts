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

/** What the Pod waits for: its container's waiting reason. */
type WaitingState = { readonly reason: PodWaitReason; readonly message: string };

/** The next action for a Pod. Each is idempotent, and writes the journal first where noted. */
export type Decision =
  | {
      readonly kind: /** Nothing to do until something changes. */
        | 'none'
        | 'add finalizer'
        | 'pull'
        /** Journal `cloning`, then clone to a free name. */
        | 'clone'
        /** Write the marker, set a new identity and the size; then journal `configured`. */
        | 'configure'
        /** Journal `starting`, then the console session, env and token, `tart run`, journal `running`. */
        | 'boot'
        | 'wait for address'
        | 'force stop'
        /** Delete its disk, env and tokens. Never for a running VM. */
        | 'delete VM'
        | 'remove finalizer'
        /** With no grace period, as the kubelet does after the cleanup (INC-14). */
        | 'delete Pod'
        /** Delete logs and, last, the journal record. */
        | 'delete record';
    }
  | { readonly kind: 'wait'; readonly for: WaitingState; readonly until?: number | undefined }
  /** Not for Macs: it stays Pending with the reason. */
  | { readonly kind: 'ignore'; readonly message: string }
  /** Fail it permanently. Its VM is not running. */
  | { readonly kind: 'reject'; readonly reason: 'UnsupportedPod' | 'DeadlineExceeded'; readonly message: string }
  /** A process that already runs is ours: journal `running` with it (INC-30). */
  | { readonly kind: 'adopt'; readonly process: ProcessIdentity }
  /** It runs. Record `address` if the journal has another. */
  | { readonly kind: 'running'; readonly address: string }
  /** Journal the time, then ask the guest to shut down. */
  | { readonly kind: 'stop gracefully'; readonly graceMs: number }
  | { readonly kind: 'wait for shutdown'; readonly until: number }
  /** Tart refused to start it, and the guest never ran: remove the run's log, then journal `configured`. Not an end. */
  | { readonly kind: 'undo start'; readonly reason: TartReason; readonly message: string }
  /** Journal `ended`, before anything of the run is deleted. */
  | { readonly kind: 'end'; readonly ending: Termination; readonly image: string }
  /** Journal the next run: `cloning`, without a stop request. */
  | { readonly kind: 'restart'; readonly run: number; readonly previous: Termination }
  /** Write the final phase and the termination. */
  | { readonly kind: 'write final status'; readonly ending: Termination };

/** A Snapshot with an existing Pod. */
type SnapshotWithPod = Snapshot & { readonly pod: Live<Pod> };

/** Start failures that neither time nor another Mac fixes: the Pod, its image or its disk is at fault. They count as a failed run. */
const podStartFaults: ReadonlySet<TartReason> = new Set(['invalid', 'missing', 'already running']);

/**
 * Tart failed before the guest ran: no address, no report, and no tart output about a guest. The disk is unchanged, and a Pod that may
 * run only once has not run yet. The error text does not matter: for a locked keychain, a missing session and a full Mac, macOS'
 * messages change between versions.
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

/** The server's copy shows that it has run: after a loss of the journal the Pod must not start again (INC-18). */
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
    return {
      reason: 'FreeingSpace',
      message: 'The disk is full. Unneeded virtual machines and images are deleted first.',
    };
  const reason: PodWaitReason = percent === undefined ? 'Pulling' : `Pulling ${Math.floor(percent)} %`;
  return { reason, message: 'The image is on its way.' };
};

/** The next step towards a clone. The slot comes first, so that no disk is created that cannot start. */
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
  // An unreadable record exists for this UID: the Pod may have ended, and must not start again then.
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
  // It ended, perhaps while no agent ran: a terminated container, never restarted from its disk (INC-407).
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
  // The next run starts from a clean clone: the name must be free before the journal records that run.
  if (vm.kind !== 'missing') return { kind: 'delete VM' };
  const at = restartAt(record, ending);
  // After the clock was set back, it must not wait longer than the maximum backoff.
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

/** After the Pod's deadline: stops a running guest, and fails the Pod. `undefined`: not yet, or the Pod ended in time. */
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
  // With a stop request it ended because of the deadline: nothing else stops a Pod that is not being deleted.
  if (record?.stopRequestedAt === undefined && ending.finishedAt < deadline) return undefined;
  return { kind: 'end', ending: deadlineTermination(pod, ending), image: record?.image.reference ?? '' };
};

/**
 * Actions that may fail for external reasons, and are then retried with backoff. Actions that end, save or adopt
 * something never back off.
 */
const subjectToBackoff: ReadonlySet<Decision['kind']> = new Set(['pull', 'clone', 'configure', 'boot', 'delete VM']);

/**
 * Decides the next action for a Pod. Pure and total.
 *
 * The order is a contract: whether the Pod exists, **then whether it is being deleted, then whether it has ended** (D4, INC-17), then its
 * deadline, and only then its spec. Nothing is created for a Pod before it has its finalizer (INC-15), and nothing happens while the state
 * of its VM is unknown.
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

/** How long live reads must not find a Pod before its VM is deleted: a single wrong response must not end a job (INC-405). */
const notFoundGraceMs = 2 * 60_000;

type KnownVm = Exclude<Vm, { kind: 'unknown' }>;

/** The finalizer was removed by another client, or the cluster lost the Pod: only this frees the slot (INC-405). */
const decideMissingPod = (snapshot: Snapshot, vm: KnownVm, goneForMs: number): Decision => {
  const { now, record } = snapshot;
  const isSure = goneForMs >= notFoundGraceMs;
  const wait: Decision = {
    kind: 'wait',
    for: { reason: 'PodGone', message: 'The server does not know the Pod.' },
    until: now + notFoundGraceMs - goneForMs,
  };
  // The UID is kept until then: after a wrong response the Pod might appear again.
  if (vm.kind === 'missing') return record !== undefined && !isSure ? wait : { kind: 'delete record' };
  if (!isSure) return wait;
  return { kind: vm.kind === 'running' ? 'force stop' : 'delete VM' };
};

/** Asks the guest to shut down, and powers it off after the grace period. By our own clock alone: the server's may differ. */
const decideStop = (snapshot: Snapshot, graceMs: number): Decision => {
  const { now } = snapshot;
  const requestedAt = readableRecord(snapshot)?.stopRequestedAt;
  if (graceMs <= 0) return { kind: 'force stop' };
  if (requestedAt === undefined)
    // Without a record the request cannot be stored: it would be repeated forever.
    return readableRecord(snapshot) === undefined ? { kind: 'force stop' } : { kind: 'stop gracefully', graceMs };
  const until = requestedAt + graceMs;
  if (now < requestedAt || now >= until) return { kind: 'force stop' };
  // A second request is harmless; a guest without a request would lose its power while working.
  if (snapshot.shutdownMaybeUnsent === true) return { kind: 'stop gracefully', graceMs: until - now };
  return { kind: 'wait for shutdown', until };
};

const gracePeriodMs = ({ metadata, spec }: Pod): number =>
  1000 * (metadata?.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? 30);

/** It has run, and its end is not recorded yet. */
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
  // An ended Pod needs nothing of this Mac any more: if the Mac disappears, the finalizer would keep the Pod forever
  // (INC-71).
  if (hasFinalizer(pod, finalizers.vmCleanup)) return { kind: 'remove finalizer' };
  return deleting ? { kind: 'delete Pod' } : { kind: 'none' };
};

/** For a Pod that is gone, is being deleted, or has ended: starts nothing, and removes everything. */
const decideTeardown = (snapshot: Snapshot, vm: KnownVm): Decision =>
  isPresent(snapshot.pod)
    ? decideTerminatingPod(snapshot, snapshot.pod, vm)
    : decideMissingPod(snapshot, vm, snapshot.pod.notFoundForMs);
