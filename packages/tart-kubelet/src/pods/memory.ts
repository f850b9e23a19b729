import type { Clock } from '@tartan/kube/clock';
import type { ImagePulls } from './actions/pull-image.ts';
import type { AddressWatch } from './address-watch.ts';
import type { PodCache } from './apiserver/pod-cache.ts';
import type { StatusManager } from './apiserver/status-manager.ts';
import type { FailureBackoff } from './backoff.ts';
import type { MarkerWatch } from './runner-busy.ts';

/** What the agent knows of Pods beside the journal. All of it may be lost: an agent that starts anew finds its way without it. */
export interface Memory {
  readonly podCache: PodCache;
  readonly imagePulls: ImagePulls;
  readonly addresses: AddressWatch;
  readonly markerWatch: MarkerWatch;
  readonly backoff: FailureBackoff;
  readonly statusManager: StatusManager;
  /** UIDs whose last status the server will not take. */
  readonly statusRefused: Set<string>;
  /** UIDs whose guests this agent has asked to shut down. */
  readonly shutdownRequested: Set<string>;
  /** Keeps the collector away from the virtual machine of each UID. */
  readonly holds: Map<string, () => void>;
  /** For how long uncached GETs have known no such UID. The first call starts the count. */
  missingForMs(uid: string): number;
  markPresent(uid: string): void;
  /** Nothing of this UID is left. */
  forget(uid: string): void;
}

type MemoryParts = Pick<Memory, 'podCache' | 'imagePulls' | 'addresses' | 'markerWatch' | 'backoff' | 'statusManager'>;

export const createMemory = (parts: MemoryParts, clock: Pick<Clock, 'monotonic'>): Memory => {
  const notFoundSince = new Map<string, number>();
  const statusRefused = new Set<string>();
  const shutdownRequested = new Set<string>();
  const holds = new Map<string, () => void>();
  return {
    ...parts,
    statusRefused,
    shutdownRequested,
    holds,
    missingForMs: (uid) => {
      const now = clock.monotonic();
      const since = notFoundSince.get(uid) ?? now;
      notFoundSince.set(uid, since);
      return now - since;
    },
    markPresent: (uid) => void notFoundSince.delete(uid),
    forget: (uid) => {
      parts.imagePulls.cancel(uid);
      parts.addresses.forget(uid);
      parts.markerWatch.forget(uid);
      parts.backoff.reset(uid);
      parts.statusManager.forget(uid);
      statusRefused.delete(uid);
      shutdownRequested.delete(uid);
      notFoundSince.delete(uid);
      holds.get(uid)?.();
      holds.delete(uid);
    },
  };
};
