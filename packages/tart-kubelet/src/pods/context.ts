import { buildEvent, type EventReason, type PodWaitReason } from '@tartan/api';
import { type Client, errorMessage, type EventRecorder, type Logger } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { ProcessTable, Tart } from '@tartan/tart';
import type { Guests } from '../guest/guests.ts';
import type { EnsureGolden, GoldenBase } from '../images/golden-base.ts';
import type { Holds } from '../images/holds.ts';
import type { PullCredentials } from '../images/pull-secrets.ts';
import type { Journal, VmRecord } from '../journal/journal.ts';
import type { VmRuns } from '../vm-runs/vm-runs.ts';
import type { ConsoleSession } from '../vm-start/console-session.ts';
import type { StartRecorder } from '../vm-start/start-recorder.ts';
import type { PodCache } from './apiserver/pod-cache.ts';
import type { PodObservation } from './observe.ts';
import type { PodWorker } from './pod-worker.ts';
import type { Pod, Snapshot } from './snapshot.ts';

/** Durations of the start of a Pod. */
export interface PodMetrics {
  /** A clone of its own is there. */
  provisioned(pod: Pod, from: GoldenBase['from'], tookMs: number): void;
  /** `tart run` is about to be called, so long after the Pod was made. */
  starting(pod: Pod, delayMs: number): void;
  /** From `tart run` to the address. Not of one that an earlier life of the agent started. */
  booted(pod: Pod, tookMs: number): void;
}

/** All that Pods on this Mac touch. */
export interface PodDeps {
  readonly client: Client;
  readonly nodeName: string;
  /** The address of the Mac, once known. */
  readonly hostIP: () => string | undefined;
  readonly vmSlots: number;
  readonly tart: Tart;
  /** Where tart keeps virtual machines: a folder for each, by its name. */
  readonly vmsFolder: string;
  readonly processes: ProcessTable;
  /** Of the executable of tart, also those with spaces in them. */
  readonly tartPaths: readonly string[];
  /** Changes when a guest gets an address. A hint, not read. */
  readonly dhcpLeases: string;
  readonly journal: Journal;
  readonly ensureGolden: EnsureGolden;
  readonly pullCredentials: PullCredentials;
  /** The base was cloned from. */
  readonly markGoldenUsed: (name: string) => void;
  /** Collects garbage since the disk is full. Absent with --disable-vm-gc. */
  readonly freeSpace?: (() => Promise<void>) | undefined;
  readonly holds: Holds;
  readonly guests: Guests;
  readonly runs: VmRuns;
  readonly session: ConsoleSession;
  /** Records each start that was refused, and each that worked. */
  readonly startRecorder: Pick<StartRecorder, 'recordRefusal' | 'recordSuccess'>;
  readonly events: Pick<EventRecorder, 'event'>;
  readonly metrics?: PodMetrics | undefined;
  readonly agentVersion: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What an act came to. */
export type ActionResult =
  /** These are facts now: the pass goes on with them, without another observation. */
  | { readonly kind: 'changed'; readonly facts: Partial<Snapshot> }
  /** More may have changed than we know. */
  | { readonly kind: 'observe again' }
  /** Nothing to do before something changes, or before then. */
  | { readonly kind: 'done'; readonly until?: number | undefined }
  /** It did not work, and is held back for a while. The reason is the container's. */
  | { readonly kind: 'failed'; readonly reason: PodWaitReason; readonly message: string };

/** One Pod, and all that its acts touch. */
export interface ActionContext extends PodObservation {
  readonly deps: PodDeps;
  readonly podCache: PodCache;
  readonly worker: PodWorker;
  /** Of all Pods, by UID. */
  readonly workers: ReadonlyMap<string, PodWorker>;
  readonly signal: AbortSignal;
}

export const done: ActionResult = { kind: 'done' };
export const observeAgain: ActionResult = { kind: 'observe again' };
export const changed = (facts: Partial<Snapshot>): ActionResult => ({ kind: 'changed', facts });

/** What tart, the disk or the session refused. */
export const failed = (
  error: unknown,
  reason: PodWaitReason = 'TartCreateFailed',
): Extract<ActionResult, { kind: 'failed' }> => ({
  kind: 'failed',
  reason,
  message: errorMessage(error),
});

/** The record that there is, or the first one for this Pod. */
export const recordOrNew = ({ uid, vm, deps, snapshot: { pod, record } }: ActionContext): VmRecord => {
  if (typeof record === 'object') return record;
  const named = 'metadata' in pod ? pod : undefined;
  const { name = 'unknown', namespace = 'unknown' } = named?.metadata ?? {};
  return {
    version: 1,
    vm,
    pod: { uid, namespace, name },
    image: { reference: named?.spec?.containers[0]?.image ?? '' },
    createdAt: deps.clock.now(),
    // Of a run that the journal has lost the server may know.
    run: named?.status?.containerStatuses?.[0]?.restartCount ?? 0,
    state: { kind: 'cloning' },
  };
};

/** Into the journal, before the act that it speaks of. */
export const writeRecord = async (context: ActionContext, change: Partial<VmRecord>): Promise<VmRecord> => {
  const record = { ...recordOrNew(context), ...change };
  await context.deps.journal.write(record);
  return record;
};

/** An event on a Pod, with the type that belongs to its reason. */
export const recordEvent = (
  recorder: Pick<EventRecorder, 'event'>,
  pod: Pod,
  reason: EventReason,
  message: string,
): void => recorder.event({ ...pod, apiVersion: 'v1', kind: 'Pod' }, buildEvent(reason, message));
