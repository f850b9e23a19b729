import { finalizers } from '@tartan/api';
import { hasFinalizer, type Live } from '@tartan/kube';
import type { Decision } from './decision.ts';
import { endingOf } from './ending.ts';
import { isTerminal, isThere, type Pod, type Snapshot, type Vm } from './snapshot.ts';

/** How long a Pod must be unknown to the server before its virtual machine goes: one wrong answer ends nobody's job (G5). */
const mustBeGoneMs = 2 * 60_000;

type KnownVm = Exclude<Vm, { kind: 'unknown' }>;

const recordOf = ({ record }: Snapshot) => (record === 'unreadable' ? undefined : record);

/** Deleted before its finalizer was there: no job is lost with it, it could start again, and its slot is not to be held for minutes. */
const wasNeverOn = (snapshot: Snapshot): boolean => {
  const record = recordOf(snapshot);
  return record?.run === 0 && (record.state.kind === 'cloning' || record.state.kind === 'configured');
};

/** Somebody took the finalizer away, or the whole cluster forgot: nobody else would ever free the slot (G5). */
const ofGonePod = (snapshot: Snapshot, vm: KnownVm, goneForMs: number): Decision => {
  const { now, record } = snapshot;
  const isSure = goneForMs >= mustBeGoneMs || (vm.kind !== 'running' && wasNeverOn(snapshot));
  const wait: Decision = {
    kind: 'wait',
    for: { reason: 'PodGone', message: 'The server does not know the Pod.' },
    until: now + mustBeGoneMs - goneForMs,
  };
  // The UID is remembered until it is sure: a server that answers wrongly might show the Pod again.
  if (vm.kind === 'missing') return record !== undefined && !isSure ? wait : { kind: 'forget' };
  if (!isSure) return wait;
  return { kind: vm.kind === 'running' ? 'stop hard' : 'delete VM' };
};

/** A real shutdown of the guest first, and the power cut when its time is over. By our own clock alone: the server's may differ. */
export const stop = (snapshot: Snapshot, graceMs: number): Decision => {
  const { now } = snapshot;
  const requestedAt = recordOf(snapshot)?.stopRequestedAt;
  if (graceMs <= 0) return { kind: 'stop hard' };
  if (requestedAt === undefined)
    // Without a record there is nowhere to keep when the guest was asked: it would be asked for ever.
    return recordOf(snapshot) === undefined ? { kind: 'stop hard' } : { kind: 'stop gracefully', graceMs };
  const until = requestedAt + graceMs;
  if (now < requestedAt || now >= until) return { kind: 'stop hard' };
  // To be asked twice does no harm; a guest that nobody asked would lose its power in the middle of its work.
  if (snapshot.askedEarlier === true) return { kind: 'stop gracefully', graceMs: until - now };
  return { kind: 'wait for shutdown', until };
};

export const graceOf = ({ metadata, spec }: Pod): number =>
  1000 * (metadata?.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? 30);

/** It has been on, and how that ended is not written down yet. */
export const isUnsaved = (snapshot: Snapshot): boolean => {
  const record = recordOf(snapshot);
  if (record === undefined) return false;
  return record.state.kind === 'running' || (record.state.kind === 'starting' && snapshot.remains.started);
};

const ofPod = (snapshot: Snapshot, pod: Live<Pod>, vm: KnownVm): Decision => {
  const { now, remains, statusRefused } = snapshot;
  const record = recordOf(snapshot);
  const deleting = pod.metadata.deletionTimestamp !== undefined;
  if (vm.kind === 'running') return stop(snapshot, graceOf(pod));
  if (isUnsaved(snapshot))
    return { kind: 'end', ending: endingOf(record, remains, now), image: record?.image.reference ?? '' };
  if (record?.state.kind === 'ended' && !isTerminal(pod) && statusRefused !== true)
    return { kind: 'finish status', ending: record.state.ending };
  if (vm.kind === 'stopped') return { kind: 'delete VM' };
  // An ended Pod needs nothing of this Mac any more: a Mac that goes away must not leave it immortal (INC-71).
  if (hasFinalizer(pod, finalizers.vmCleanup)) return { kind: 'remove finalizer' };
  return deleting ? { kind: 'delete Pod' } : { kind: 'rest' };
};

/** For a Pod that is gone, is being deleted, or has ended: nothing of it starts, and everything of it goes. */
export const decideTeardown = (snapshot: Snapshot, vm: KnownVm): Decision =>
  isThere(snapshot.pod) ? ofPod(snapshot, snapshot.pod, vm) : ofGonePod(snapshot, vm, snapshot.pod.goneForMs);
