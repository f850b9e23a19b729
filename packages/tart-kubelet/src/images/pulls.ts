import { isDeepStrictEqual } from 'node:util';
import { createSemaphore } from '@tartan/kube';
import { isTartError, type PullProgress, type RegistryCredentials, type Tart } from '@tartan/tart';
import { type Flight, joinFlight } from '../single-flight.ts';
import type { GoldenRequest } from './golden-base.ts';
import { formatPullReference, type ImageReference, parseReference } from './image-reference.ts';
import type { PullRecords } from './image-records.ts';
import type { LocalImages } from './local-images.ts';

/** `image` is `repository@digest` or `repository:tag`. A signal aborts the pull itself only if no other request waits for it. */
interface PullRequest extends Pick<GoldenRequest, 'credentials' | 'image' | 'signal'> {
  readonly onProgress?: ((progress: PullProgress) => void) | undefined;
}

interface Download extends Flight {
  readonly credentials: RegistryCredentials | undefined;
  readonly listeners: Set<(progress: PullProgress) => void>;
  last: PullProgress | undefined;
}

/** Pulls images. Requests for the same image share one download (INC-47); `limit` bounds concurrent pulls (tuist/tuist#11362). */
export const createPulls = ({ tart, limit }: { readonly tart: Pick<Tart, 'pull'>; readonly limit: number }) => {
  const downloads = new Map<string, Download>();
  const semaphore = createSemaphore(limit);

  const forget = (image: string, download: Download): void => {
    if (downloads.get(image) === download) downloads.delete(image);
  };

  const startDownload = ({ image, credentials }: PullRequest): Download => {
    const controller = new AbortController();
    const { signal } = controller;
    const listeners: Download['listeners'] = new Set();
    const onProgress = (progress: PullProgress): void => {
      download.last = progress;
      for (const listener of listeners) listener(progress);
    };
    const done = semaphore(() => tart.pull(image, { credentials, onProgress, signal }), signal).finally(() =>
      forget(image, download),
    );
    const download: Download = { done, credentials, listeners, controller, waiters: 0, last: undefined };
    // Avoids an unhandled rejection when all requests have left.
    done.catch(() => {});
    downloads.set(image, download);
    return download;
  };

  const joinDownload = async (flight: Download, { image, onProgress, signal }: PullRequest): Promise<void> => {
    const report = (progress: PullProgress): void => onProgress?.(progress);
    flight.listeners.add(report);
    if (flight.last !== undefined) report(flight.last);
    try {
      // A new request must not join a download that is being aborted.
      await joinFlight(flight, signal, () => forget(image, flight));
    } finally {
      flight.listeners.delete(report);
    }
  };

  const pull = async (request: PullRequest): Promise<void> => {
    request.signal.throwIfAborted();
    const flight = downloads.get(request.image) ?? startDownload(request);
    try {
      await joinDownload(flight, request);
    } catch (error) {
      // The registry may accept our credentials after it refused those of another Pod.
      if (!isTartError(error, 'registry refused') || isDeepStrictEqual(flight.credentials, request.credentials))
        throw error;
      await pull(request);
    }
  };
  return {
    /** Rejects with a TartError, or with the signal's reason. Idempotent. */
    pull,
    /** Whether a request waits for it. */
    isInFlight: (image: string) => downloads.has(image),
    /** Pulls in progress or queued. */
    count: () => downloads.size,
  };
};

export type Pulls = ReturnType<typeof createPulls>;

const localDigest = async (local: LocalImages, reference: ImageReference): Promise<string | undefined> => {
  const digest = await local.digestOf(reference);
  return digest !== undefined && (await local.has({ repository: reference.repository, digest })) ? digest : undefined;
};

/** Records which pulls are ours. `createPulls` ensures one pull per image at a time. */
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

/** Finishes the record of an interrupted pull if the image is local. */
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
