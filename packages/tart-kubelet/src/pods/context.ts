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
  /** Its clone was created. */
  provisioned(pod: Pod, from: GoldenBase['from'], tookMs: number): void;
  /** `tart run` is about to be called, `delayMs` after the Pod's creation. */
  starting(pod: Pod, delayMs: number): void;
  /** From `tart run` to the address. Not for VMs that a previous agent process started. */
  booted(pod: Pod, tookMs: number): void;
}

/** Dependencies of the Pod controller. */
export interface PodDeps {
  readonly client: Client;
  readonly nodeName: string;
  /** The address of the Mac, once known. */
  readonly hostIP: () => string | undefined;
  readonly vmSlots: number;
  readonly tart: Tart;
  /** Tart's VM folder: one subfolder per VM name. */
  readonly vmsFolder: string;
  readonly processes: ProcessTable;
  /** Paths of the tart executable, possibly with spaces. */
  readonly tartPaths: readonly string[];
  /** A file that changes when a guest gets an address. Only a hint, not read. */
  readonly dhcpLeases: string;
  readonly journal: Journal;
  readonly ensureGolden: EnsureGolden;
  readonly pullCredentials: PullCredentials;
  /** Call when the golden base was cloned. */
  readonly markGoldenUsed: (name: string) => void;
  /** Collects garbage because the disk is full. Absent with --disable-vm-gc. */
  readonly freeSpace?: (() => Promise<void>) | undefined;
  readonly holds: Holds;
  readonly guests: Guests;
  readonly runs: VmRuns;
  readonly session: ConsoleSession;
  /** Records every refused and every successful start. */
  readonly startRecorder: Pick<StartRecorder, 'recordRefusal' | 'recordSuccess'>;
  readonly events: Pick<EventRecorder, 'event'>;
  readonly metrics?: PodMetrics | undefined;
  readonly agentVersion: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Result of an action. */
export type ActionResult =
  /** These facts are known now: the reconcile continues with them without another observation. */
  | { readonly kind: 'changed'; readonly facts: Partial<Snapshot> }
  /** More may have changed than we know. */
  | { readonly kind: 'observe again' }
  /** Nothing to do before something changes, or before `until`. */
  | { readonly kind: 'done'; readonly until?: number | undefined }
  /** The action failed, and is retried after a backoff. `reason` is the container's waiting reason. */
  | { readonly kind: 'failed'; readonly reason: PodWaitReason; readonly message: string };

/** One Pod, with everything that its actions need. */
export interface ActionContext extends PodObservation {
  readonly deps: PodDeps;
  readonly podCache: PodCache;
  readonly worker: PodWorker;
  /** The workers of all Pods, by UID. */
  readonly workers: ReadonlyMap<string, PodWorker>;
  readonly signal: AbortSignal;
}

export const done: ActionResult = { kind: 'done' };
export const observeAgain: ActionResult = { kind: 'observe again' };
export const changed = (facts: Partial<Snapshot>): ActionResult => ({ kind: 'changed', facts });

/** A failure of tart, the disk or the console session. */
export const failed = (
  error: unknown,
  reason: PodWaitReason = 'TartCreateFailed',
): Extract<ActionResult, { kind: 'failed' }> => ({
  kind: 'failed',
  reason,
  message: errorMessage(error),
});

/** The existing record, or the first one for this Pod. */
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
    // If the journal has lost a run, the API server may still know the count.
    run: named?.status?.containerStatuses?.[0]?.restartCount ?? 0,
    state: { kind: 'cloning' },
  };
};

/** Writes the journal, before the action that it describes. */
export const writeRecord = async (context: ActionContext, change: Partial<VmRecord>): Promise<VmRecord> => {
  const record = { ...recordOrNew(context), ...change };
  await context.deps.journal.write(record);
  return record;
};

/** Records an event on a Pod, with the type that its reason requires. */
export const recordEvent = (
  recorder: Pick<EventRecorder, 'event'>,
  pod: Pod,
  reason: EventReason,
  message: string,
): void => recorder.event({ ...pod, apiVersion: 'v1', kind: 'Pod' }, buildEvent(reason, message));
