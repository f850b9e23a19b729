import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, type Live } from '@tartan/kube';
import { isSameProcess, type VmProcess, vmProcesses } from '@tartan/tart';
import type { VmRecord } from '../journal/journal.ts';
import { vmNameOf } from '../journal/vm-identity.ts';
import type { VmRun } from '../vm-runs/vm-runs.ts';
import { getLivePod, getLivePodByUid, type PodCache } from './apiserver/pod-cache.ts';
import type { PodDeps } from './context.ts';
import type { PodWorker } from './pod-worker.ts';
import { readMarkers } from './runner-busy.ts';
import type { LastRun, Pod, Snapshot, Vm } from './snapshot.ts';

const mayRun = ({ state }: VmRecord): boolean => state.kind !== 'ended';

const isBefore = (one: VmRecord, other: { readonly createdAt: number; readonly uid: string }): boolean =>
  one.createdAt === other.createdAt ? one.pod.uid < other.uid : one.createdAt < other.createdAt;

/**
 * How many slots are unavailable for this Pod: all running VMs, started by this agent or not, and those of earlier Pods that are about
 * to start. Only earlier ones: if each waited for the other, neither would ever start.
 */
export const slotsUsedByOthers = (
  thisPod: { readonly uid: string; readonly vm: string; readonly createdAt: number },
  running: readonly string[],
  records: readonly VmRecord[],
): number => {
  const reserved = records.filter((one) => one.pod.uid !== thisPod.uid && mayRun(one) && isBefore(one, thisPod));
  return new Set([...running, ...reserved.map(({ vm }) => vm)].filter((vm) => vm !== thisPod.vm)).size;
};

/** A Snapshot with its Pod's UID and VM name. */
export interface PodObservation {
  readonly uid: string;
  readonly vm: string;
  readonly snapshot: Snapshot;
}

/** The run of the record; without a record the run that the server has counted. */
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

/** For a Pod that is only in the journal. */
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

/** Synchronous: the call takes microseconds, less than a turn of the event loop. */
const folderExists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

const vmOf = (
  { vmsFolder }: PodDeps,
  { vm, record }: ThisPod,
  running: readonly VmProcess[],
  address: string | undefined,
): Vm => {
  const ofThisVm = running.filter(({ name }) => name === vm);
  const known = typeof record === 'object' && record.state.kind === 'running' ? record.state.process : undefined;
  const process = ofThisVm.find((one) => known !== undefined && isSameProcess(one, known)) ?? ofThisVm[0];
  if (process !== undefined)
    return { kind: 'running', process: { pid: process.pid, startedAt: process.startedAt }, address };
  return { kind: folderExists(join(vmsFolder, vm)) ? 'stopped' : 'missing' };
};

type ThisPod = Pick<PodObservation, 'uid' | 'vm'> & { readonly record: Snapshot['record'] };

interface ObserveContext {
  readonly deps: PodDeps;
  readonly workers: ReadonlyMap<string, PodWorker>;
}

const readProcessesAndSlots = async ({ deps, workers }: ObserveContext, { uid, vm, record }: ThisPod) => {
  const { clock, journal, processes, tartPaths, vmSlots: total } = deps;
  const [list, { records }] = await Promise.all([processes.list(), journal.list()]);
  const running = vmProcesses(list, tartPaths);
  const now = clock.now();
  /** Its start was refused, and is not retried yet. Meanwhile other Pods may use its slot: their images may start. */
  const isBackingOff = ({ pod, state }: VmRecord): boolean =>
    state.kind === 'configured' && (workers.get(pod.uid)?.lastFailure?.retryAt ?? 0) > now;
  const createdAt = typeof record === 'object' ? record.createdAt : now;
  const usedByOthers = slotsUsedByOthers(
    { uid, vm, createdAt },
    running.map(({ name }) => name),
    records.filter((one) => !isBackingOff(one)),
  );
  return { running, slots: { total, usedByOthers } };
};

/** Reads the slots anew before a start. If they cannot be read, no slot is free. */
export const readSlots = async (context: ObserveContext & PodObservation): Promise<Snapshot['slots']> => {
  const { snapshot, uid, vm } = context;
  return (await observeVm(context, { uid, vm, record: snapshot.record }, undefined)).slots;
};

/** Running VMs, started by this agent or not. `undefined`: unknown. */
export const countRunningVms = async ({ processes, tartPaths }: PodDeps): Promise<number | undefined> => {
  try {
    return new Set(vmProcesses(await processes.list(), tartPaths).map(({ name }) => name)).size;
  } catch {
    return undefined;
  }
};

/** Unreadable state is unknown, never missing (INC-49, INC-429). */
const observeVm = async (
  context: ObserveContext,
  thisPod: ThisPod,
  address: string | undefined,
): Promise<Pick<Snapshot, 'vm' | 'slots'>> => {
  try {
    const { running, slots } = await readProcessesAndSlots(context, thisPod);
    return { vm: vmOf(context.deps, thisPod, running, address), slots };
  } catch (error) {
    const { vmSlots: total } = context.deps;
    return {
      vm: { kind: 'unknown', message: `It is not known how the virtual machine is: ${errorMessage(error)}` },
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

/** The VM name ends with the UID, which finds it when the rest of the name is unknown. */
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
 * The current state of one Pod. `undefined`: nothing is known of it, or nothing is left. Changes nothing. Rejects when the API server or
 * the disk fails.
 */
export const observe = async (
  context: ObserveContext & { readonly podCache: PodCache; readonly worker: PodWorker; readonly signal: AbortSignal },
  uid: string,
): Promise<PodObservation | undefined> => {
  const { deps, podCache, signal, worker } = context;
  const record = await deps.journal.read(uid);
  const pod = podCache.get(uid);
  if (pod === undefined && record === undefined) return undefined;
  // The API server has it: the watch is behind, and will deliver it.
  if (pod === undefined && !(await isNotFound(deps, uid, record, signal))) return undefined;
  const vm = await vmNameFor(deps, uid, record, pod);
  const seen = await observeVm(context, { uid, vm, record }, worker.addressWatch.get());
  // After that: a VM that has ended writes no more output.
  const lastRun =
    pod === undefined ? neverStarted : await lastRunOf(deps, record, runOf({ uid, vm }, record, pod), seen.vm);
  const markers = await readMarkers(deps.guests, { record, vm: seen.vm }, pod, vm);
  const monotonic = deps.clock.monotonic();
  return {
    uid,
    vm,
    snapshot: {
      now: deps.clock.now(),
      pod: pod ?? { notFoundForMs: monotonic - (worker.notFoundSince ?? monotonic) },
      record,
      ...seen,
      image: worker.imagePull.state(),
      lastRun,
      markers,
      lastFailure: worker.lastFailure,
      shutdownMaybeUnsent:
        typeof record === 'object' && record.stopRequestedAt !== undefined && !worker.shutdownRequested,
      statusRefused: worker.statusRefused,
    },
  };
};
