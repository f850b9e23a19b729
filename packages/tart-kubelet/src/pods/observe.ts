import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Live } from '@tartan/kube';
import { isSameProcess, type VmProcess, vmProcesses } from '@tartan/tart';
import type { Journal, VmRecord } from '../journal/journal.ts';
import { vmNameOf } from '../journal/vm-identity.ts';
import type { VmRun } from '../vm-runs/vm-runs.ts';
import { getLivePod, getLivePodByUid } from './apiserver/pod-cache.ts';
import type { PodDeps } from './context.ts';
import type { Memory } from './memory.ts';
import { readMarkers } from './runner-busy.ts';
import type { LastRun, Pod, Snapshot, Vm } from './snapshot.ts';

const mayRun = ({ state }: VmRecord): boolean => state.kind !== 'ended';

const isBefore = (one: VmRecord, other: { readonly createdAt: number; readonly uid: string }): boolean =>
  one.createdAt === other.createdAt ? one.pod.uid < other.uid : one.createdAt < other.createdAt;

/**
 * How many slots are not for this Pod: every virtual machine that is on, whoever started it, and those of Pods that came first and are
 * on their way. Only those that came first: if each waited for the other, neither would ever start.
 */
export const slotsUsedByOthers = (
  thisPod: { readonly uid: string; readonly vm: string; readonly createdAt: number },
  running: readonly string[],
  records: readonly VmRecord[],
): number => {
  const reserved = records.filter((one) => one.pod.uid !== thisPod.uid && mayRun(one) && isBefore(one, thisPod));
  return new Set([...running, ...reserved.map(({ vm }) => vm)].filter((vm) => vm !== thisPod.vm)).size;
};

type Entries = Awaited<ReturnType<Journal['list']>>;

/** A Snapshot and whose it is. */
export interface PodObservation {
  readonly uid: string;
  readonly vm: string;
  readonly snapshot: Snapshot;
}

/** The run that a record speaks of; without one the run that the server has counted. */
export const runOf = (
  { uid, vm }: Pick<PodObservation, 'uid' | 'vm'>,
  record: Snapshot['record'],
  pod: Pod,
): VmRun => ({
  podUID: uid,
  container: pod.spec?.containers[0]?.name ?? '',
  run: typeof record === 'object' ? record.run : (pod.status?.containerStatuses?.[0]?.restartCount ?? 0),
  vm,
});

const readRecord = async (journal: Journal, uid: string): Promise<Snapshot['record']> => {
  const entry = await journal.read(uid);
  return entry?.kind === 'record' ? entry.record : entry?.kind;
};

/** Of a Pod that only a record speaks of. */
const isNotFound = async (
  { client, nodeName }: PodDeps,
  uid: string,
  record: Snapshot['record'],
  signal: AbortSignal,
): Promise<boolean> => {
  const found =
    typeof record === 'object'
      ? await getLivePod(client, nodeName, record.pod, signal)
      : await getLivePodByUid(client, nodeName, uid, signal);
  return found === undefined;
};

/** Without waiting: the answer takes microseconds, and a turn of the event loop takes longer than that. */
const folderExists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

const vmOf = (
  { vmsFolder }: PodDeps,
  vm: string,
  running: readonly VmProcess[],
  record: Snapshot['record'],
  address: string | undefined,
): Vm => {
  const ofThisVm = running.filter(({ name }) => name === vm);
  const known = typeof record === 'object' && record.state.kind === 'running' ? record.state.process : undefined;
  const process = ofThisVm.find((one) => known !== undefined && isSameProcess(one, known)) ?? ofThisVm[0];
  if (process !== undefined)
    return { kind: 'running', process: { pid: process.pid, startedAt: process.startedAt }, address };
  return { kind: folderExists(join(vmsFolder, vm)) ? 'stopped' : 'missing' };
};

type ThisPod = { readonly uid: string; readonly vm: string; readonly record: Snapshot['record'] };

/** Its start was refused, and is not tried again yet: meanwhile its slot is for others, whose images may well start. */
const isBackingOff = ({ backoff }: Pick<Memory, 'backoff'>, { pod, state }: VmRecord, now: number): boolean =>
  state.kind === 'configured' && (backoff.get(pod.uid)?.retryAt ?? 0) > now;

const slotsFor = (
  deps: PodDeps,
  memory: Pick<Memory, 'backoff'>,
  thisPod: ThisPod,
  running: readonly VmProcess[],
  entries: Entries,
): Snapshot['slots'] => {
  const { uid, vm, record } = thisPod;
  const records = entries
    .flatMap((entry) => (entry.kind === 'record' ? [entry.record] : []))
    .filter((one) => !isBackingOff(memory, one, deps.clock.now()));
  const createdAt = typeof record === 'object' ? record.createdAt : deps.clock.now();
  const names = running.map(({ name }) => name);
  return { total: deps.vmSlots, usedByOthers: slotsUsedByOthers({ uid, vm, createdAt }, names, records) };
};

/** Right before a start. What nobody can tell is no slot. */
export const readSlots = async (deps: PodDeps, memory: Memory, thisPod: ThisPod): Promise<Snapshot['slots']> => {
  try {
    const [list, entries] = await Promise.all([deps.processes.list(), deps.journal.list()]);
    return slotsFor(deps, memory, thisPod, vmProcesses(list, deps.tartPaths), entries);
  } catch {
    return { total: deps.vmSlots, usedByOthers: deps.vmSlots };
  }
};

/** Virtual machines that are on, whoever started them. `undefined`: nobody can tell. */
export const countRunningVms = async ({ processes, tartPaths }: PodDeps): Promise<number | undefined> => {
  try {
    return new Set(vmProcesses(await processes.list(), tartPaths).map(({ name }) => name)).size;
  } catch {
    return undefined;
  }
};

/** What nobody can tell is said to be unknown, and never left out as if it were not there (INC-49, INC-429). */
const observeVm = async (
  deps: PodDeps,
  memory: Memory,
  thisPod: ThisPod,
  address: string | undefined,
): Promise<Pick<Snapshot, 'vm' | 'slots'>> => {
  const { journal, processes, tartPaths, vmSlots: total } = deps;
  try {
    const [list, entries] = await Promise.all([processes.list(), journal.list()]);
    const running = vmProcesses(list, tartPaths);
    return {
      vm: vmOf(deps, thisPod.vm, running, thisPod.record, address),
      slots: slotsFor(deps, memory, thisPod, running, entries),
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return {
      vm: { kind: 'unknown', message: `It is not known how the virtual machine is: ${why}` },
      slots: { total, usedByOthers: total },
    };
  }
};

const neverStarted: LastRun = { started: false, ending: { kind: 'unknown' } };

const lastRunOf = async (
  { guests, runs }: PodDeps,
  record: Snapshot['record'],
  run: VmRun,
  vm: Vm,
): Promise<LastRun> => {
  if (typeof record === 'object' && (record.state.kind === 'cloning' || record.state.kind === 'ended'))
    return neverStarted;
  const lastRun = await runs.lastRun(run, vm.kind === 'running' || vm.kind === 'unknown');
  return lastRun.started ? { ...lastRun, report: await guests.result(run.vm) } : lastRun;
};

/** Its name carries the UID, also when nobody knows the rest of it any more. */
const vmNameFor = async (
  { vmsFolder }: PodDeps,
  uid: string,
  record: Snapshot['record'],
  pod: Live<Pod> | undefined,
) => {
  if (typeof record === 'object') return record.vm;
  const named = pod && vmNameOf({ uid, namespace: pod.metadata.namespace ?? '', name: pod.metadata.name });
  if (named !== undefined) return named;
  const names = await readdir(vmsFolder);
  return names.find((name) => name === uid || name.endsWith(`-${uid}`)) ?? uid;
};

/**
 * Everything that matters for one Pod, as it is now. `undefined`: nobody has heard of it, or of it nothing is left.
 * Rejects when the server or the disk does not answer.
 */
export const observe = async (
  deps: PodDeps,
  memory: Memory,
  uid: string,
  signal: AbortSignal,
): Promise<PodObservation | undefined> => {
  const record = await readRecord(deps.journal, uid);
  const pod = memory.podCache.get(uid);
  if (pod === undefined && record === undefined) return undefined;
  let notFoundForMs = 0;
  if (pod === undefined && (await isNotFound(deps, uid, record, signal))) notFoundForMs = memory.missingForMs(uid);
  else {
    memory.markPresent(uid);
    // The watch is behind and will bring it.
    if (pod === undefined) return undefined;
  }
  const vm = await vmNameFor(deps, uid, record, pod);
  const seen = await observeVm(deps, memory, { uid, vm, record }, memory.addresses.get(uid));
  // After that: of what is not on any more all is written.
  const lastRun =
    pod === undefined ? neverStarted : await lastRunOf(deps, record, runOf({ uid, vm }, record, pod), seen.vm);
  const markers = await readMarkers(deps.guests, { record, vm: seen.vm }, pod, vm);
  return {
    uid,
    vm,
    snapshot: {
      now: deps.clock.now(),
      pod: pod ?? { notFoundForMs },
      record,
      ...seen,
      image: memory.imagePulls.state(uid),
      lastRun,
      markers,
      lastFailure: memory.backoff.get(uid),
      shutdownMaybeUnsent:
        typeof record === 'object' && record.stopRequestedAt !== undefined && !memory.shutdownRequested.has(uid),
      statusRefused: memory.statusRefused.has(uid),
    },
  };
};
