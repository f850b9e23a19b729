import type { PodWaitReason } from '@tartan/api';
import type { Live, pods } from '@tartan/kube';
import type { ExitCause, ProcessIdentity } from '@tartan/tart';
import type { RunnerMarkers } from '../guest/guest-status.ts';
import type { VmRecord } from '../journal/journal.ts';

export type Pod = NonNullable<(typeof pods)['ofType']>;
export type PodStatus = NonNullable<Pod['status']>;

/** The Pod's virtual machine on this Mac. Only its process shows whether it is on, not what tart reports and not a lease (INC-20). */
export type Vm =
  /** Nobody could tell. That is never taken for absence (INC-49, INC-429). */
  | { readonly kind: 'unknown'; readonly message: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'running'; readonly process: ProcessIdentity; readonly address?: string | undefined };

/** The image that the Pod names. */
type ImageState =
  | { readonly kind: 'missing' }
  | {
      readonly kind: 'pulling';
      readonly percent?: number | undefined;
      /** Instead of fetching it. */
      readonly stage?: 'cloning' | 'freeing space';
    }
  /** `digest` is what the reference means now. */
  | { readonly kind: 'here'; readonly digest?: string | undefined };

/** What is left of the last run. */
export interface LastRun {
  /** It has a log of this run, which is made before the process. None: it was never started. */
  readonly started: boolean;
  /** When we saw the process end; not if it ended while no agent was there. */
  readonly exitedAt?: number | undefined;
  readonly exitCode?: number | undefined;
  readonly ending: ExitCause;
  /** The guest's own word, already checked to be 0..255. The time is the guest's word too. */
  readonly report?: { readonly code: number; readonly at: number } | undefined;
}

/** An act failed, and is not to be tried again before its time. Memory only. */
interface LastFailure {
  readonly reason: PodWaitReason;
  readonly message: string;
  readonly retryAt: number;
}

/** All that matters for one Pod UID. */
export interface Snapshot {
  readonly now: number;
  /** `goneForMs`: for how long uncached GETs have known no such UID, on the monotonic clock and counted from zero by each agent. */
  readonly pod: Live<Pod> | { readonly notFoundForMs: number };
  readonly record: VmRecord | 'unreadable' | undefined;
  readonly vm: Vm;
  readonly image: ImageState;
  readonly lastRun: LastRun;
  /** What the runner in the guest says of itself. Only of runner Pods that were started. */
  readonly markers?: RunnerMarkers | undefined;
  readonly slots: { readonly total: number; readonly usedByOthers: number };
  readonly lastFailure?: LastFailure | undefined;
  /** An earlier life of the agent wrote down that it asks the guest to shut down, and nobody knows whether it came to that. */
  readonly shutdownMaybeUnsent?: boolean | undefined;
  /** The server will not take the last status, whatever we do: nothing waits for it any more. */
  readonly statusRefused?: boolean | undefined;
}

/** `undefined` also for one that cannot be read. */
export const readableRecord = ({ record }: Pick<Snapshot, 'record'>): VmRecord | undefined =>
  record === 'unreadable' ? undefined : record;

export const isPresent = (pod: Snapshot['pod']): pod is Live<Pod> => 'metadata' in pod;

export const isTerminal = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
