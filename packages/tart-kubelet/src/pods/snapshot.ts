import type { PodWaitReason } from '@tartan/api';
import type { Live, pods } from '@tartan/kube';
import type { ExitCause, ProcessIdentity } from '@tartan/tart';
import type { RunnerMarkers } from '../guest/guest-status.ts';
import type { VmRecord } from '../journal/journal.ts';

export type Pod = NonNullable<(typeof pods)['ofType']>;
export type PodStatus = NonNullable<Pod['status']>;

/** The Pod's VM on this Mac. Only its process shows whether it runs, not tart's state and not a DHCP lease (INC-20). */
export type Vm =
  /** It could not be read. Never treated as missing (INC-49, INC-429). */
  | { readonly kind: 'unknown'; readonly message: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'running'; readonly process: ProcessIdentity; readonly address?: string | undefined };

/** The image in the Pod's spec. */
type ImageState =
  | { readonly kind: 'missing' }
  | {
      readonly kind: 'pulling';
      readonly percent?: number | undefined;
      /** Set when it is not downloading. */
      readonly stage?: 'cloning' | 'freeing space';
    }
  /** `digest`: what the reference resolves to now. */
  | { readonly kind: 'here'; readonly digest?: string | undefined };

/** What is known of the last run. */
export interface LastRun {
  /** A log of this run exists; it is created before the process. False: it was never started. */
  readonly started: boolean;
  /** When we saw the process end; undefined if it ended while no agent ran. */
  readonly exitedAt?: number | undefined;
  readonly exitCode?: number | undefined;
  readonly ending: ExitCause;
  /** The guest's report, validated to be 0..255. The time comes from the guest too. */
  readonly report?: { readonly code: number; readonly at: number } | undefined;
}

/** An action failed, and is not retried before `retryAt`. In memory only. */
interface LastFailure {
  readonly reason: PodWaitReason;
  readonly message: string;
  readonly retryAt: number;
}

/** Everything that one Pod depends on. */
export interface Snapshot {
  readonly now: number;
  /** `notFoundForMs`: since when live reads do not find the UID, on the monotonic clock; starts at zero with each agent process. */
  readonly pod: Live<Pod> | { readonly notFoundForMs: number };
  readonly record: VmRecord | 'unreadable' | undefined;
  readonly vm: Vm;
  readonly image: ImageState;
  readonly lastRun: LastRun;
  /** The runner's markers in the guest. Only for runner Pods that were started. */
  readonly markers?: RunnerMarkers | undefined;
  readonly slots: { readonly total: number; readonly usedByOthers: number };
  readonly lastFailure?: LastFailure | undefined;
  /** A previous agent process journalled a shutdown request; whether the guest got it is unknown. */
  readonly shutdownMaybeUnsent?: boolean | undefined;
  /** The API server rejects the final status permanently: nothing waits for it any more. */
  readonly statusRefused?: boolean | undefined;
}

/** `undefined` also for an unreadable record. */
export const readableRecord = ({ record }: Pick<Snapshot, 'record'>): VmRecord | undefined =>
  record === 'unreadable' ? undefined : record;

export const isPresent = (pod: Snapshot['pod']): pod is Live<Pod> => 'metadata' in pod;

export const isTerminal = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
