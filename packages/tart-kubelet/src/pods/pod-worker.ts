import type { PodWaitReason } from '@tartan/api';
import { backoffMs } from '@tartan/kube';
import { createImagePull, type ImagePull } from './actions/pull-image.ts';
import { type AddressWatch, createAddressWatch } from './address-watch.ts';
import type { PodCache } from './apiserver/pod-cache.ts';
import { createStatusWriter, type StatusWriter } from './apiserver/status-writer.ts';
import type { PodDeps } from './context.ts';
import type { PodObservation } from './observe.ts';
import { createMarkerWatch, type MarkerWatch } from './runner-busy.ts';
import type { Snapshot } from './snapshot.ts';

type Failure = NonNullable<Snapshot['lastFailure']> & { readonly count: number };

/**
 * In-memory state of one Pod beside the journal, from the first event of its UID until nothing is left. All of it may be lost: a
 * restarted agent works without it.
 */
export interface PodWorker {
  readonly status: StatusWriter;
  readonly imagePull: ImagePull;
  readonly addressWatch: AddressWatch;
  readonly markerWatch: MarkerWatch;
  lastFailure?: Failure | undefined;
  /** The API server rejects the final status. */
  statusRefused: boolean;
  /** This agent has asked the guest to shut down. */
  shutdownRequested: boolean;
  waitsForSlot: boolean;
  /** Ends the protection of the VM from garbage collection. */
  releaseVm?: (() => void) | undefined;
  /** Since when live reads do not find the Pod, on the monotonic clock. */
  notFoundSince?: number | undefined;
  /** The last observation, for the kubelet API. */
  observation?: PodObservation;
}

export const createPodWorker = (deps: PodDeps, podCache: PodCache, uid: string, changed: () => void): PodWorker => {
  const { clock, ensureGolden, guests } = deps;
  return {
    status: createStatusWriter(deps, podCache, uid),
    imagePull: createImagePull(ensureGolden, changed),
    addressWatch: createAddressWatch(deps, changed),
    markerWatch: createMarkerWatch({ read: (vm) => guests.runnerMarkers(vm), changed, clock }),
    statusRefused: false,
    shutdownRequested: false,
    waitsForSlot: false,
  };
};

export const stopPodWorker = ({ addressWatch, imagePull, markerWatch, status }: PodWorker): void => {
  imagePull.cancel();
  addressWatch.reset();
  markerWatch.stop();
  status.stop();
};

/** As the kubelet for images. */
const defaultBackoff = { baseMs: 5_000, maxMs: 5 * 60_000 };
/** A Secret of a runner is created a second after its Pod is bound. A retry costs one request. */
const missingObjectBackoff = { baseMs: 500, maxMs: 30_000 };

const backoffFor = (reason: PodWaitReason) =>
  reason === 'CreateContainerConfigError' ? missingObjectBackoff : defaultBackoff;

/** The failure after `before`. The count restarts when the backoff changes. */
export const nextFailure = (
  before: Failure | undefined,
  reason: PodWaitReason,
  message: string,
  now: number,
): Failure => {
  const backoff = backoffFor(reason);
  const count = before !== undefined && backoffFor(before.reason) === backoff ? before.count + 1 : 1;
  return { reason, message, count, retryAt: now + backoffMs(backoff, count) };
};
