import type { Clock } from '@tartan/kube/clock';
import type { Acted } from './acted.ts';
import type { AddressWatch } from './address-watch.ts';
import type { ImageJobs } from './image-jobs.ts';
import type { KnownPods } from './known-pods.ts';
import type { MarkerWatch } from './marker-watch.ts';
import type { Preparations } from './preparations.ts';
import type { Publisher } from './publish.ts';
import type { Troubles } from './troubles.ts';

/** What the agent knows of Pods beside the journal. All of it may be lost: an agent that starts anew finds its way without it. */
export interface Memory {
  readonly known: KnownPods;
  readonly images: ImageJobs;
  readonly addresses: AddressWatch;
  readonly markers: MarkerWatch;
  readonly preparations: Preparations;
  readonly troubles: Troubles;
  readonly publisher: Publisher;
  /** UIDs whose last status the server will not take. */
  readonly refused: Set<string>;
  /** UIDs whose guests this agent has asked to shut down. */
  readonly asked: Set<string>;
  /** By UID, from when the server is asked for the finalizer until somebody takes the answer. */
  readonly finalizerAnswers: Map<string, Promise<Acted>>;
  /** Keeps the collector away from the virtual machine of each UID. */
  readonly holds: Map<string, () => void>;
  /** For how long uncached GETs have known no such UID. The first call starts the count. */
  missingForMs(uid: string): number;
  isThere(uid: string): void;
  /** Nothing of this UID is left. */
  forget(uid: string): void;
}

type Parts = Pick<Memory, 'known' | 'images' | 'addresses' | 'markers' | 'preparations' | 'troubles' | 'publisher'>;

export const createMemory = (parts: Parts, clock: Pick<Clock, 'monotonic'>): Memory => {
  const goneSince = new Map<string, number>();
  const refused = new Set<string>();
  const asked = new Set<string>();
  const finalizerAnswers = new Map<string, Promise<Acted>>();
  const holds = new Map<string, () => void>();
  return {
    ...parts,
    refused,
    asked,
    finalizerAnswers,
    holds,
    missingForMs: (uid) => {
      const now = clock.monotonic();
      const since = goneSince.get(uid) ?? now;
      goneSince.set(uid, since);
      return now - since;
    },
    isThere: (uid) => void goneSince.delete(uid),
    forget: (uid) => {
      parts.images.drop(uid);
      parts.addresses.forget(uid);
      parts.markers.forget(uid);
      void parts.preparations.drop(uid);
      parts.troubles.forget(uid);
      parts.publisher.forget(uid);
      refused.delete(uid);
      asked.delete(uid);
      finalizerAnswers.delete(uid);
      goneSince.delete(uid);
      holds.get(uid)?.();
      holds.delete(uid);
    },
  };
};
