import { createHash } from 'node:crypto';
import { z } from 'zod';
import { createRecordFiles } from '../journal/record-files.ts';
import { formatDigestReference, type PinnedImage } from './image-reference.ts';

const recordSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('making'), name: z.string(), image: z.string() }),
  z.object({ kind: z.literal('made'), name: z.string(), image: z.string() }),
  z.object({ kind: z.literal('fetching'), name: z.string(), before: z.string().optional() }),
]);

/** In a file of its own: an image that was ours stays ours while it is asked for again. */
const pullRecordName = (image: string): string => `fetching ${image}`;

export interface ImageRecordsOptions {
  readonly folder: string;
  /** Puts the marker into the folder of a golden base. The image is `repository@digest`. */
  readonly mark: (name: string, image: string) => Promise<void>;
}

/**
 * What the agent made of images, as far as it must outlive the agent: one small file for each golden base and each image. So it, and
 * nothing else, may be deleted one day (B5): an image that was here before may be somebody else's.
 */
export const createImageRecords = ({ folder, mark }: ImageRecordsOptions) => {
  // A name may have slashes and colons.
  const fileOf = (name: string): string => `${createHash('sha256').update(name).digest('hex').slice(0, 32)}.json`;
  const filePattern = /^[0-9a-f]{32}\.json$/;
  const files = createRecordFiles({ folder, schema: recordSchema, fileOf, filePattern, keyOf: ({ name }) => name });
  const { read, write, remove: forget } = files;
  return {
    /** Before it is made. Safe to repeat. */
    beginClone: (name: string, image: PinnedImage) =>
      write({ kind: 'making', name, image: formatDigestReference(image) }),
    /** It was begun and not finished: an earlier life of the agent was cut. */
    isCloneUnfinished: async (name: string) => (await read(name))?.kind === 'making',
    /** Once it is there: the marker in its folder. Safe to repeat, also for one that an earlier life of the agent had made. */
    finishClone: async (name: string) => {
      const record = await read(name);
      if (record === undefined || record.kind === 'fetching')
        throw new Error(`Nothing is written down of the making of ${name}`);
      await mark(name, record.image);
      await write({ kind: 'made', name, image: record.image });
    },
    /** Before it is fetched, by the name that tart is asked for, with the digest that was here under this name. */
    beginPull: (image: string, before: string | undefined) =>
      write({ kind: 'fetching', name: pullRecordName(image), ...(before === undefined ? {} : { before }) }),
    /** What `beginPull` was called with, if the pull was not finished since: an earlier life of the agent was cut. */
    unfinishedPull: async (image: string) => {
      const record = await read(pullRecordName(image));
      return record?.kind === 'fetching' ? { before: record.before } : undefined;
    },
    /** It is here, and ours if there is a `made`. Safe to repeat. */
    finishPull: async (image: string, made: PinnedImage | undefined) => {
      if (made !== undefined)
        await write({ kind: 'made', name: formatDigestReference(made), image: formatDigestReference(made) });
      await forget(pullRecordName(image));
    },
    /** Everything that was made and not forgotten. One that cannot be read is left out. */
    names: async () => (await files.list()).records.flatMap((record) => (record.kind === 'made' ? [record.name] : [])),
    /** Whether it was made by this agent: a golden base by its name, an image as `repository@digest`. Rejects when the record cannot be read. */
    isOwned: async (name: string) => (await read(name))?.kind === 'made',
    /** Not there is fine. */
    forget,
  };
};

export type ImageRecords = ReturnType<typeof createImageRecords>;
export type CloneRecords = Pick<ImageRecords, 'beginClone' | 'finishClone' | 'isCloneUnfinished'>;
export type PullRecords = Pick<ImageRecords, 'beginPull' | 'finishPull' | 'unfinishedPull'>;
