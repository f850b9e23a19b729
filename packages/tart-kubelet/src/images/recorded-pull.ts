import type { Tart } from '@tartan/tart';
import type { LocalImages } from './local-images.ts';
import { askedText, type ImageReference, parseReference, type PinnedImage } from './reference.ts';

/** What the agent writes down of what it fetches: an image that was here before may be somebody else's (B5). */
export interface PullRecords {
  /** Before it is fetched, by the name that tart is asked for, with the digest that was here under this name. */
  fetching(image: string, before: string | undefined): Promise<void>;
  /** What `fetching` said, if `fetched` was not said since: an earlier life of the agent was cut. */
  beingFetched(image: string): Promise<{ readonly before: string | undefined } | undefined>;
  /** It is here, and ours if there is a `made`. Safe to repeat. */
  fetched(image: string, made: PinnedImage | undefined): Promise<void>;
}

const digestHere = async (local: LocalImages, reference: ImageReference): Promise<string | undefined> => {
  const digest = await local.digestOf(reference);
  return digest !== undefined && (await local.has({ repository: reference.repository, digest })) ? digest : undefined;
};

/** A pull that leaves behind who fetched what. For one image one at a time, which `createPulls` sees to. */
export const recordedPull = (
  tart: Pick<Tart, 'pull'>,
  local: LocalImages,
  records: PullRecords,
): Pick<Tart, 'pull'> => ({
  pull: async (image, options = {}) => {
    const reference = parseReference(image);
    if (reference === undefined) return tart.pull(image, options);
    const cut = await records.beingFetched(image);
    const before = cut === undefined ? await digestHere(local, reference) : cut.before;
    if (cut === undefined) await records.fetching(image, before);
    let wasHere = false;
    await tart.pull(image, {
      ...options,
      onProgress: (progress) => {
        if (progress.stage === 'cached') wasHere = true;
        options.onProgress?.(progress);
      },
    });
    const digest = await local.digestOf(reference);
    const isOurs = digest !== undefined && digest !== before && (cut !== undefined || !wasHere);
    await records.fetched(image, isOurs ? { repository: reference.repository, digest } : undefined);
  },
});

/** Ends what an earlier life of the agent had begun, when the image turns out to be here. */
export const finishRecord = async (
  reference: ImageReference,
  digest: string,
  local: LocalImages,
  records: PullRecords,
): Promise<void> => {
  const image = askedText(reference);
  const cut = await records.beingFetched(image);
  if (cut === undefined) return;
  const { repository } = reference;
  const arrived = digest !== cut.before && (await local.has({ repository, digest }));
  await records.fetched(image, arrived ? { repository, digest } : undefined);
};
