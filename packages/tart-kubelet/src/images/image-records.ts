import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { createRecordFiles } from '../journal/record-files.ts';
import { formatDigestReference, type PinnedImage } from './image-reference.ts';

const recordSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('making'), name: z.string(), image: z.string() }),
  z.object({ kind: z.literal('made'), name: z.string(), image: z.string() }),
  z.object({ kind: z.literal('fetching'), name: z.string(), before: z.optional(z.string()) }),
]);

/** A separate file, so that an image of ours stays ours while it is pulled again. */
const pullRecordName = (image: string): string => `fetching ${image}`;

export interface ImageRecordsOptions {
  readonly folder: string;
  /** Writes the marker into the folder of a golden base. The image is `repository@digest`. */
  readonly mark: (name: string, image: string) => Promise<void>;
}

/**
 * Persistent records of the golden bases and images that the agent created: one small file each. Only these may be collected (B5):
 * an image that existed before may belong to a user.
 */
export const createImageRecords = ({ folder, mark }: ImageRecordsOptions) => {
  // A name may contain slashes and colons.
  const fileOf = (name: string): string => `${createHash('sha256').update(name).digest('hex').slice(0, 32)}.json`;
  const filePattern = /^[0-9a-f]{32}\.json$/;
  const files = createRecordFiles({ folder, schema: recordSchema, fileOf, filePattern, keyOf: ({ name }) => name });
  const { read, write, remove: forget } = files;
  return {
    /** Call before the clone. Idempotent. */
    beginClone: (name: string, image: PinnedImage) =>
      write({ kind: 'making', name, image: formatDigestReference(image) }),
    /** The clone was begun and not finished: the agent was interrupted. */
    isCloneUnfinished: async (name: string) => (await read(name))?.kind === 'making',
    /** Call after the clone: writes the marker into its folder. Idempotent, also for a clone of a previous agent process. */
    finishClone: async (name: string) => {
      const record = await read(name);
      if (record === undefined || record.kind === 'fetching')
        throw new Error(`Nothing is written down of the making of ${name}`);
      await mark(name, record.image);
      await write({ kind: 'made', name, image: record.image });
    },
    /** Call before the pull, with tart's name of the image and the digest that this name had locally. */
    beginPull: (image: string, before: string | undefined) =>
      write({ kind: 'fetching', name: pullRecordName(image), ...(before === undefined ? {} : { before }) }),
    /** The arguments of `beginPull` if the pull was not finished: the agent was interrupted. */
    unfinishedPull: async (image: string) => {
      const record = await read(pullRecordName(image));
      return record?.kind === 'fetching' ? { before: record.before } : undefined;
    },
    /** The image is local, and ours if there is a `made`. Idempotent. */
    finishPull: async (image: string, made: PinnedImage | undefined) => {
      if (made !== undefined)
        await write({ kind: 'made', name: formatDigestReference(made), image: formatDigestReference(made) });
      await forget(pullRecordName(image));
    },
    /** All created images and bases that were not forgotten. Skips unreadable records. */
    names: async () => (await files.list()).records.flatMap((record) => (record.kind === 'made' ? [record.name] : [])),
    /** Whether this agent created it: a golden base by its name, an image as `repository@digest`. Rejects when the record cannot be read. */
    isOwned: async (name: string) => (await read(name))?.kind === 'made',
    /** Idempotent. */
    forget,
  };
};

export type ImageRecords = ReturnType<typeof createImageRecords>;
export type CloneRecords = Pick<ImageRecords, 'beginClone' | 'finishClone' | 'isCloneUnfinished'>;
export type PullRecords = Pick<ImageRecords, 'beginPull' | 'finishPull' | 'unfinishedPull'>;
