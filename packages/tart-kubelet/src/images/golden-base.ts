import { isTartError, type PullProgress, type RegistryCredentials, type Tart } from '@tartan/tart';
import type { Holds } from './holds.ts';
import {
  formatDigestReference,
  formatPullReference,
  goldenName,
  type ImageReference,
  parseReference,
  type PinnedImage,
} from './image-reference.ts';
import type { CloneRecords, PullRecords } from './image-records.ts';
import type { LocalImages } from './local-images.ts';
import { finishInterruptedPull, type Pulls } from './pulls.ts';

export type PullPolicy = 'Always' | 'IfNotPresent' | 'Never';

/** As the API server's default: `latest` is checked each time. */
export const defaultPullPolicy = ({ tag, digest }: ImageReference): PullPolicy =>
  digest === undefined && tag === 'latest' ? 'Always' : 'IfNotPresent';

/** `use local`: the local image or base. */
type PullDecision = 'pull' | 'use local' | 'refuse';

/**
 * Applies the pull policy. `Always` exists to detect moved tags. A digest never moves: asking the registry would pull 40 GB again when
 * only the golden base is left (INC-47).
 */
export const decidePull = (
  policy: PullPolicy | undefined,
  reference: ImageReference,
  isHere: boolean,
): PullDecision => {
  switch (policy ?? defaultPullPolicy(reference)) {
    case 'Always':
      return isHere && reference.digest !== undefined ? 'use local' : 'pull';
    case 'IfNotPresent':
      return isHere ? 'use local' : 'pull';
    case 'Never':
      return isHere ? 'use local' : 'refuse';
  }
};

type ImageProgress =
  | { readonly stage: 'pulling'; readonly progress: PullProgress }
  /** The disk was full; the collector runs before one retry. */
  | { readonly stage: 'freeing space' }
  | { readonly stage: 'cloning' };

export interface GoldenRequest {
  /** As in the Pod's spec. */
  readonly image: string;
  readonly policy?: PullPolicy | undefined;
  readonly credentials?: RegistryCredentials | undefined;
  readonly onProgress?: ((progress: ImageProgress) => void) | undefined;
  readonly signal: AbortSignal;
}

export interface GoldenBase {
  /** The local VM to clone from. It is never run itself. */
  readonly name: string;
  readonly image: PinnedImage;
  /** `warm`: the base existed. `cloned`: from a local image. `pulled`: from the registry. */
  readonly from: 'warm' | 'cloned' | 'pulled';
  /** The collector keeps it until this is called. */
  release(): void;
}

/** The kubelet's reasons, as `kubectl get pods` shows them. */
type ImageReason = 'InvalidImageName' | 'ErrImageNeverPull' | 'ErrImagePull';

/** An image is not available, for a reason other than a tart error. The message is for users. */
export class ImageError extends Error {
  readonly reason: ImageReason;
  constructor(reason: ImageReason, message: string) {
    super(message);
    this.name = 'ImageError';
    this.reason = reason;
  }
}

export interface EnsureGoldenOptions {
  readonly tart: Pick<Tart, 'clone'>;
  readonly local: LocalImages;
  readonly pulls: Pulls;
  readonly holds: Holds;
  readonly records: CloneRecords & PullRecords;
  /** Collects garbage because the disk is full. Absent with --disable-vm-gc. */
  readonly freeSpace?: (() => Promise<void>) | undefined;
}

/** Retries `work` once after garbage collection if it fails for lack of space. */
export const retryAfterFreeingSpace = async (
  freeSpace: (() => Promise<void>) | undefined,
  work: () => Promise<void>,
): Promise<void> => {
  try {
    await work();
  } catch (error) {
    if (!isTartError(error, 'no space') || freeSpace === undefined) throw error;
    await freeSpace();
    await work();
  }
};

export type EnsureGolden = (request: GoldenRequest) => Promise<GoldenBase>;

/**
 * Ensures the local golden base of an image.
 *
 * Flow: local state → pull policy → pull → digest → clone to the base of that digest.
 * Guarantees: an existing base is complete, since tart clones to a temporary place and renames at the end. Never clones to a name that
 * is taken (INC-429). An error never counts as absent, so it never causes a pull (INC-49). Crash-safe: the next call continues.
 * Caveats: a failed clone deletes nothing (INC-47).
 */
export const createEnsureGolden = (options: EnsureGoldenOptions): EnsureGolden => {
  const { tart, local, pulls, holds, records } = options;
  /** Clones in progress, by base name. */
  const clones = new Map<string, Promise<GoldenBase['from']>>();

  const { freeSpace } = options;
  /** Reports the stage to the request's Pod. */
  const freeSpaceFor = ({ onProgress, signal }: GoldenRequest) =>
    freeSpace &&
    (async (): Promise<void> => {
      onProgress?.({ stage: 'freeing space' });
      await freeSpace();
      signal.throwIfAborted();
    });

  const pull = async (reference: ImageReference, request: GoldenRequest): Promise<void> => {
    const image = formatPullReference(reference);
    // Holds a tag's image too: otherwise it could be collected between its pull and its clone.
    const release = await holds.hold(image);
    try {
      await retryAfterFreeingSpace(freeSpaceFor(request), () =>
        pulls.pull({
          image,
          credentials: request.credentials,
          signal: request.signal,
          onProgress: (progress) => request.onProgress?.({ stage: 'pulling', progress }),
        }),
      );
    } finally {
      release();
    }
  };

  const clone = async (name: string, image: PinnedImage, request: GoldenRequest): Promise<GoldenBase['from']> => {
    if (await local.hasVm(name)) {
      // A crash between the clone and its marker.
      if (await records.isCloneUnfinished(name)) await records.finishClone(name);
      return 'warm';
    }
    request.onProgress?.({ stage: 'cloning' });
    await records.beginClone(name, image);
    await retryAfterFreeingSpace(freeSpaceFor(request), () =>
      tart.clone(formatDigestReference(image), name, { credentials: request.credentials }),
    );
    await records.finishClone(name);
    return 'cloned';
  };
  const cloneOnce = async (name: string, image: PinnedImage, request: GoldenRequest): Promise<GoldenBase['from']> => {
    const other = clones.get(name);
    if (other !== undefined) {
      await other;
      return 'warm';
    }
    const mine = clone(name, image, request).finally(() => clones.delete(name));
    clones.set(name, mine);
    return mine;
  };

  const isLocal = async (image: PinnedImage): Promise<boolean> =>
    (await local.hasVm(goldenName(image))) || (await local.has(image));

  return async (request) => {
    const reference = parseReference(request.image);
    if (reference === undefined)
      throw new ImageError(
        'InvalidImageName',
        `${JSON.stringify(request.image)} is no image that tart can fetch; write registry/name:tag or registry/name@sha256:digest`,
      );
    const { repository } = reference;
    let digest = await local.digestOf(reference);
    const decision = decidePull(
      request.policy,
      reference,
      digest !== undefined && (await isLocal({ repository, digest })),
    );
    if (decision === 'refuse')
      throw new ImageError(
        'ErrImageNeverPull',
        `${request.image} is not on this Mac, and imagePullPolicy Never forbids fetching it; pull it there, or choose IfNotPresent`,
      );
    if (decision === 'pull') {
      await pull(reference, request);
      digest = await local.digestOf(reference);
    }
    if (digest === undefined)
      throw new ImageError('ErrImagePull', `tart pulled ${request.image}, but its tag names nothing; try again`);
    else if (decision === 'use local' && !pulls.isInFlight(formatPullReference(reference)))
      await finishInterruptedPull(reference, digest, local, records);
    request.signal.throwIfAborted();
    const image = { repository, digest };
    const name = goldenName(image);
    const releases = [await holds.hold(name), await holds.hold(formatDigestReference(image))];
    const release = (): void => releases.forEach((one) => one());
    try {
      const from = await cloneOnce(name, image, request);
      return { name, image, from: from === 'cloned' && decision === 'pull' ? 'pulled' : from, release };
    } catch (error) {
      release();
      throw error;
    }
  };
};
