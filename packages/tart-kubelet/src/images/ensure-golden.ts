import { isTartError, type Tart } from '@tartan/tart';
import type { Golden, GoldenRequest, MadeRecords } from './golden.ts';
import { goldenName } from './golden-name.ts';
import type { Holds } from './holds.ts';
import { ImageError } from './image-error.ts';
import type { LocalImages } from './local-images.ts';
import { decidePull } from './pull-policy.ts';
import type { Pulls } from './pulls.ts';
import { finishRecord, type PullRecords } from './recorded-pull.ts';
import { askedText, type ImageReference, parseReference, type PinnedImage, pinnedText } from './reference.ts';

export interface EnsureGoldenOptions {
  readonly tart: Pick<Tart, 'clone'>;
  readonly local: LocalImages;
  readonly pulls: Pulls;
  readonly holds: Holds;
  readonly records: MadeRecords & PullRecords;
  /** Collects garbage since the disk is full. Absent with --disable-vm-gc. */
  readonly freeSpace?: (() => Promise<void>) | undefined;
}

export type EnsureGolden = (request: GoldenRequest) => Promise<Golden>;

/**
 * The local base of an image.
 *
 * Flow: what is here → what the policy says of it → pull → digest → clone into the base of that digest.
 * Guarantees: a base that is there is whole, since tart makes a clone aside and moves it in place at its end. Never clones onto a name
 * that is taken (G29). An error is never read as absent, so it never leads to a pull (G13). Cut anywhere, the next call goes on.
 * Caveats: a failed clone deletes nothing (G12).
 */
export const createEnsureGolden = (options: EnsureGoldenOptions): EnsureGolden => {
  const { tart, local, pulls, holds, records } = options;
  /** Clones under way, by the name of the base. */
  const clones = new Map<string, Promise<Golden['from']>>();

  const freeingSpace = async (request: GoldenRequest, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!isTartError(error, 'no space') || options.freeSpace === undefined) throw error;
      request.onProgress?.({ stage: 'freeing space' });
      await options.freeSpace();
      request.signal.throwIfAborted();
      await work();
    }
  };

  const pull = async (reference: ImageReference, request: GoldenRequest): Promise<void> => {
    const image = askedText(reference);
    // Also a tag's image: otherwise it would be collected between its pull and its clone.
    const release = await holds.hold(image);
    try {
      await freeingSpace(request, () =>
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

  const clone = async (name: string, image: PinnedImage, request: GoldenRequest): Promise<Golden['from']> => {
    if (await local.hasVm(name)) {
      // Cut between the clone and its marker.
      if (await records.isBeingMade(name)) await records.made(name);
      return 'warm';
    }
    request.onProgress?.({ stage: 'cloning' });
    await records.making(name, image);
    await freeingSpace(request, () => tart.clone(pinnedText(image), name, { credentials: request.credentials }));
    await records.made(name);
    return 'cloned';
  };
  const cloneOnce = async (name: string, image: PinnedImage, request: GoldenRequest): Promise<Golden['from']> => {
    const other = clones.get(name);
    if (other !== undefined) {
      await other;
      return 'warm';
    }
    const mine = clone(name, image, request).finally(() => clones.delete(name));
    clones.set(name, mine);
    return mine;
  };

  const isHere = async (image: PinnedImage): Promise<boolean> =>
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
      digest !== undefined && (await isHere({ repository, digest })),
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
    else if (decision === 'use local' && !pulls.isUnderWay(askedText(reference)))
      await finishRecord(reference, digest, local, records);
    request.signal.throwIfAborted();
    const image = { repository, digest };
    const name = goldenName(image);
    const releases = [await holds.hold(name), await holds.hold(pinnedText(image))];
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
