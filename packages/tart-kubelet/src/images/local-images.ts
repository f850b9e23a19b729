import { readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, undefinedIfMissing } from '../file-errors.ts';
import { formatTagReference, type ImageReference, type PinnedImage } from './image-reference.ts';

/** Together they make a virtual machine, or the image of one. */
export const vmFiles = ['config.json', 'disk.img', 'nvram.bin'];

/** ENOTDIR: there is something else in its way, so it is not there either. */
const undefinedIfAbsent = <T>(work: Promise<T>): Promise<T | undefined> =>
  undefinedIfMissing(work).catch((error: unknown) => {
    if (errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  });

/** As tart lays them out: a folder for each digest, a link for each tag, and the colon of a port written as %3A. */
export const createLocalImages = (tartHome: string) => {
  const folder = (repository: string): string =>
    join(tartHome, 'cache', 'OCIs', ...repository.split('/').map((part) => part.replaceAll(':', '%3A')));
  return {
    /** What a tag pointed at when it was last pulled. */
    digestOf: async ({ repository, tag, digest }: ImageReference) => {
      if (digest !== undefined) return digest;
      const path = join(folder(repository), tag ?? 'latest');
      const target = await undefinedIfAbsent(readlink(path));
      if (target === undefined) return undefined;
      // Written relative by some versions of tart, and as a whole path by others.
      const found = /(?:^|\/)(sha256:[0-9a-f]{64})$/.exec(target)?.[1];
      if (found === undefined)
        throw new Error(`The link of ${formatTagReference({ repository, tag })} names no digest`);
      return found;
    },
    has: async ({ repository, digest }: PinnedImage) =>
      (await undefinedIfAbsent(stat(join(folder(repository), digest))))?.isDirectory() === true,
    /** Whether there is a whole virtual machine of this name. */
    hasVm: async (name: string) => {
      const files = await Promise.all(
        vmFiles.map((file) => undefinedIfAbsent(stat(join(tartHome, 'vms', name, file)))),
      );
      return files.every((file) => file?.isFile() === true);
    },
  };
};

/**
 * What tart keeps on this Mac, from the disk: tart itself would throw away the part of a pull that was cut before it answers (INC-422). All
 * read what is there now; an error is never the same as absent (INC-49).
 */
export type LocalImages = ReturnType<typeof createLocalImages>;
