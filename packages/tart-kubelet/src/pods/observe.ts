import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Live } from '@tartan/kube';
import { isSameProcess, type VmProcess, vmProcesses } from '@tartan/tart';
import type { Journal } from '../journal/journal.ts';
import type { VmRecord } from '../journal/record.ts';
import { vmNameOf } from '../journal/vm-name.ts';
import type { Run } from '../runs/runs.ts';
import { findByUid, findPod } from './find-pod.ts';
import { markersOf } from './follow-markers.ts';
import type { Memory } from './memory.ts';
import { slotsOfOthers } from './slots.ts';
import type { Pod, Remains, Snapshot, Vm } from './snapshot.ts';
import type { PodWorld } from './world.ts';

type Entries = Awaited<ReturnType<Journal['list']>>;

/** A Snapshot and whose it is. */
export interface Sight {
  readonly uid: string;
  readonly vm: string;
  readonly snapshot: Snapshot;
}

/** The run that a record speaks of; without one the run that the server has counted. */
export const runOf = ({ uid, vm }: Pick<Sight, 'uid' | 'vm'>, record: Snapshot['record'], pod: Pod): Run => ({
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
const isGone = async (
  { client, nodeName }: PodWorld,
  uid: string,
  record: Snapshot['record'],
  signal: AbortSignal,
): Promise<boolean> => {
  const found =
    typeof record === 'object'
      ? await findPod(client, nodeName, record.pod, signal)
      : await findByUid(client, nodeName, uid, signal);
  return found === undefined;
};

/** Without waiting: the answer takes microseconds, and a turn of the event loop takes longer than that. */
const isFolderThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

const vmOf = (
  { vmsFolder }: PodWorld,
  vm: string,
  running: readonly VmProcess[],
  record: Snapshot['record'],
  address: string | undefined,
): Vm => {
  const mine = running.filter(({ name }) => name === vm);
  const known = typeof record === 'object' && record.state.kind === 'running' ? record.state.process : undefined;
  const process = mine.find((one) => known !== undefined && isSameProcess(one, known)) ?? mine[0];
  if (process !== undefined)
    return { kind: 'running', process: { pid: process.pid, startedAt: process.startedAt }, address };
  return { kind: isFolderThere(join(vmsFolder, vm)) ? 'stopped' : 'missing' };
};

type Mine = { readonly uid: string; readonly vm: string; readonly record: Snapshot['record'] };

/** Its start was refused, and is not tried again yet: meanwhile its slot is for others, whose images may well start. */
const isHeldBack = ({ troubles }: Pick<Memory, 'troubles'>, { pod, state }: VmRecord, now: number): boolean =>
  state.kind === 'configured' && (troubles.of(pod.uid)?.retryAt ?? 0) > now;

const slotsBeside = (
  world: PodWorld,
  memory: Pick<Memory, 'troubles'>,
  mine: Mine,
  running: readonly VmProcess[],
  entries: Entries,
): Snapshot['slots'] => {
  const { uid, vm, record } = mine;
  const records = entries
    .flatMap((entry) => (entry.kind === 'record' ? [entry.record] : []))
    .filter((one) => !isHeldBack(memory, one, world.clock.now()));
  const createdAt = typeof record === 'object' ? record.createdAt : world.clock.now();
  const names = running.map(({ name }) => name);
  return { total: world.vmSlots, ofOthers: slotsOfOthers({ uid, vm, createdAt }, names, records) };
};

/** Right before a start. What nobody can tell is no slot. */
export const slotsNow = async (world: PodWorld, memory: Memory, mine: Mine): Promise<Snapshot['slots']> => {
  try {
    const [list, entries] = await Promise.all([world.processes.list(), world.journal.list()]);
    return slotsBeside(world, memory, mine, vmProcesses(list, world.tartPaths), entries);
  } catch {
    return { total: world.vmSlots, ofOthers: world.vmSlots };
  }
};

/** Virtual machines that are on, whoever started them. `undefined`: nobody can tell. */
export const runningNow = async ({ processes, tartPaths }: PodWorld): Promise<number | undefined> => {
  try {
    return new Set(vmProcesses(await processes.list(), tartPaths).map(({ name }) => name)).size;
  } catch {
    return undefined;
  }
};

/**
 * Of one that was never here nothing runs, and how many others do need not be known to the second yet: that is looked at while its disk
 * is made.
 */
const listFor = async ({ processes, recentProcesses, vmsFolder }: PodWorld, { vm, record }: Mine) =>
  record === undefined && !isFolderThere(join(vmsFolder, vm)) ? recentProcesses() : processes.list();

/** What nobody can tell is said to be unknown, and never left out as if it were not there (G13, G29). */
const look = async (
  world: PodWorld,
  memory: Memory,
  mine: Mine,
  address: string | undefined,
): Promise<Pick<Snapshot, 'vm' | 'slots'>> => {
  const { journal, tartPaths, vmSlots: total } = world;
  try {
    const [list, entries] = await Promise.all([listFor(world, mine), journal.list()]);
    const running = vmProcesses(list, tartPaths);
    return {
      vm: vmOf(world, mine.vm, running, mine.record, address),
      slots: slotsBeside(world, memory, mine, running, entries),
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return {
      vm: { kind: 'unknown', why: `It is not known how the virtual machine is: ${why}` },
      slots: { total, ofOthers: total },
    };
  }
};

const never: Remains = { started: false, ending: { kind: 'unknown' } };

const remainsOf = async (
  { guests, runs }: PodWorld,
  record: Snapshot['record'],
  run: Run,
  vm: Vm,
): Promise<Remains> => {
  if (typeof record === 'object' && (record.state.kind === 'cloning' || record.state.kind === 'ended')) return never;
  const remains = await runs.remains(run, vm.kind === 'running' || vm.kind === 'unknown');
  return remains.started ? { ...remains, report: await guests.report(run.vm) } : remains;
};

/** Its name carries the UID, also when nobody knows the rest of it any more. */
const vmNameFor = async (
  { vmsFolder }: PodWorld,
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
  world: PodWorld,
  memory: Memory,
  uid: string,
  signal: AbortSignal,
): Promise<Sight | undefined> => {
  const record = await readRecord(world.journal, uid);
  const pod = memory.known.get(uid);
  if (pod === undefined && record === undefined) return undefined;
  let goneForMs = 0;
  if (pod === undefined && (await isGone(world, uid, record, signal))) goneForMs = memory.missingForMs(uid);
  else {
    memory.isThere(uid);
    // The watch is behind and will bring it.
    if (pod === undefined) return undefined;
  }
  const vm = await vmNameFor(world, uid, record, pod);
  const seen = await look(world, memory, { uid, vm, record }, memory.addresses.of(uid));
  // After that: of what is not on any more all is written.
  const remains = pod === undefined ? never : await remainsOf(world, record, runOf({ uid, vm }, record, pod), seen.vm);
  const markers = await markersOf(world.guests, { record, vm: seen.vm }, pod, vm);
  return {
    uid,
    vm,
    snapshot: {
      now: world.clock.now(),
      pod: pod ?? { goneForMs },
      record,
      ...seen,
      image: memory.images.sight(uid),
      remains,
      markers,
      trouble: memory.troubles.of(uid),
      finalizerAsked: memory.finalizerAnswers.has(uid),
      askedEarlier: typeof record === 'object' && record.stopRequestedAt !== undefined && !memory.asked.has(uid),
      statusRefused: memory.refused.has(uid),
    },
  };
};
