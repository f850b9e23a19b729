import { isDeepStrictEqual } from 'node:util';
import { createSemaphore } from '@tartan/kube';
import { isTartError, type PullProgress, type RegistryCredentials, type Tart } from '@tartan/tart';
import { formatPullReference, type ImageReference, parseReference, type PinnedImage } from './image-reference.ts';
import type { LocalImages } from './local-images.ts';

interface PullRequest {
  /** `repository@digest`, or `repository:tag`. */
  readonly image: string;
  readonly credentials?: RegistryCredentials | undefined;
  readonly onProgress?: ((progress: PullProgress) => void) | undefined;
  /** Leaves. The pull itself ends only when nobody waits for it any more. */
  readonly signal: AbortSignal;
}

interface Download {
  readonly done: Promise<void>;
  readonly credentials: RegistryCredentials | undefined;
  readonly listeners: Set<(progress: PullProgress) => void>;
  readonly end: AbortController;
  waiters: number;
  last: PullProgress | undefined;
}

const orAborted = (done: Promise<void>, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    done.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });

/** Fetches images. Two that ask for the same one share a download of it (INC-47); only so many run at a time (tuist/tuist#11362). */
export const createPulls = ({ tart, limit }: { readonly tart: Pick<Tart, 'pull'>; readonly limit: number }) => {
  const downloads = new Map<string, Download>();
  const semaphore = createSemaphore(limit);

  const startDownload = ({ image, credentials }: PullRequest): Download => {
    const end = new AbortController();
    const listeners: Download['listeners'] = new Set();
    const onProgress = (progress: PullProgress): void => {
      download.last = progress;
      for (const listener of listeners) listener(progress);
    };
    const done = semaphore(() => tart.pull(image, { credentials, onProgress, signal: end.signal }), end.signal).finally(
      () => {
        if (downloads.get(image) === download) downloads.delete(image);
      },
    );
    const download: Download = { done, credentials, listeners, end, waiters: 0, last: undefined };
    // Somebody may have left before it fails.
    done.catch(() => {});
    downloads.set(image, download);
    return download;
  };

  const joinDownload = async (flight: Download, { image, onProgress, signal }: PullRequest): Promise<void> => {
    const report = (progress: PullProgress): void => onProgress?.(progress);
    flight.waiters += 1;
    flight.listeners.add(report);
    if (flight.last !== undefined) report(flight.last);
    try {
      await orAborted(flight.done, signal);
    } finally {
      flight.listeners.delete(report);
      flight.waiters -= 1;
      if (flight.waiters === 0) {
        // Who comes now must not join what is about to end.
        if (downloads.get(image) === flight) downloads.delete(image);
        flight.end.abort();
      }
    }
  };

  const pull = async (request: PullRequest): Promise<void> => {
    request.signal.throwIfAborted();
    const flight = downloads.get(request.image) ?? startDownload(request);
    try {
      await joinDownload(flight, request);
    } catch (error) {
      // What was refused to another Pod's secret may be given to ours.
      if (!isTartError(error, 'registry refused') || isDeepStrictEqual(flight.credentials, request.credentials))
        throw error;
      await pull(request);
    }
  };
  return {
    /** Rejects with a TartError, or with the signal's reason. Safe to repeat. */
    pull /** Somebody waits for it right now. */,
    isInFlight: (image: string) => downloads.has(image) /** How many are fetched, or wait for their turn. */,
    count: () => downloads.size,
  };
};

export type Pulls = ReturnType<typeof createPulls>;

/** What the agent writes down of what it fetches: an image that was here before may be somebody else's (B5). */
export interface PullRecords {
  /** Before it is fetched, by the name that tart is asked for, with the digest that was here under this name. */
  beginPull(image: string, before: string | undefined): Promise<void>;
  /** What `fetching` said, if `fetched` was not said since: an earlier life of the agent was cut. */
  unfinishedPull(image: string): Promise<{ readonly before: string | undefined } | undefined>;
  /** It is here, and ours if there is a `made`. Safe to repeat. */
  finishPull(image: string, made: PinnedImage | undefined): Promise<void>;
}

const localDigest = async (local: LocalImages, reference: ImageReference): Promise<string | undefined> => {
  const digest = await local.digestOf(reference);
  return digest !== undefined && (await local.has({ repository: reference.repository, digest })) ? digest : undefined;
};

/** A pull that leaves behind who fetched what. For one image one at a time, which `createPulls` sees to. */
export const withPullRecords = (
  tart: Pick<Tart, 'pull'>,
  local: LocalImages,
  records: PullRecords,
): Pick<Tart, 'pull'> => ({
  pull: async (image, options = {}) => {
    const reference = parseReference(image);
    if (reference === undefined) return tart.pull(image, options);
    const unfinished = await records.unfinishedPull(image);
    const before = unfinished === undefined ? await localDigest(local, reference) : unfinished.before;
    if (unfinished === undefined) await records.beginPull(image, before);
    let wasCached = false;
    await tart.pull(image, {
      ...options,
      onProgress: (progress) => {
        if (progress.stage === 'cached') wasCached = true;
        options.onProgress?.(progress);
      },
    });
    const digest = await local.digestOf(reference);
    const isOwned = digest !== undefined && digest !== before && (unfinished !== undefined || !wasCached);
    await records.finishPull(image, isOwned ? { repository: reference.repository, digest } : undefined);
  },
});

/** Ends what an earlier life of the agent had begun, when the image turns out to be here. */
export const finishInterruptedPull = async (
  reference: ImageReference,
  digest: string,
  local: LocalImages,
  records: PullRecords,
): Promise<void> => {
  const image = formatPullReference(reference);
  const unfinished = await records.unfinishedPull(image);
  if (unfinished === undefined) return;
  const { repository } = reference;
  const arrived = digest !== unfinished.before && (await local.has({ repository, digest }));
  await records.finishPull(image, arrived ? { repository, digest } : undefined);
};
