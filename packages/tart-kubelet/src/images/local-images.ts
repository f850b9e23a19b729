import { readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, undefinedIfMissing } from '../file-errors.ts';
import { formatTagReference, type ImageReference, type PinnedImage } from './image-reference.ts';

/** The files of a VM or an image. */
export const vmFiles = ['config.json', 'disk.img', 'nvram.bin'];

/** ENOTDIR: a file is in place of a folder, so it does not exist either. */
const undefinedIfAbsent = <T>(work: Promise<T>): Promise<T | undefined> =>
  undefinedIfMissing(work).catch((error: unknown) => {
    if (errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  });

/** Tart's layout: a folder per digest, a link per tag, and the colon of a port as %3A. */
export const createLocalImages = (tartHome: string) => {
  const folder = (repository: string): string =>
    join(tartHome, 'cache', 'OCIs', ...repository.split('/').map((part) => part.replaceAll(':', '%3A')));
  return {
    /** The digest of a tag when it was last pulled. */
    digestOf: async ({ repository, tag, digest }: ImageReference) => {
      if (digest !== undefined) return digest;
      const path = join(folder(repository), tag ?? 'latest');
      const target = await undefinedIfAbsent(readlink(path));
      if (target === undefined) return undefined;
      // Some versions of tart write relative links, others absolute ones.
      const found = /(?:^|\/)(sha256:[0-9a-f]{64})$/.exec(target)?.[1];
      if (found === undefined)
        throw new Error(`The link of ${formatTagReference({ repository, tag })} names no digest`);
      return found;
    },
    has: async ({ repository, digest }: PinnedImage) =>
      (await undefinedIfAbsent(stat(join(folder(repository), digest))))?.isDirectory() === true,
    /** Whether a complete VM of this name exists. */
    hasVm: async (name: string) => {
      const files = await Promise.all(
        vmFiles.map((file) => undefinedIfAbsent(stat(join(tartHome, 'vms', name, file)))),
      );
      return files.every((file) => file?.isFile() === true);
    },
  };
};

/**
 * Tart's images and VMs, read from the disk: tart itself would delete the partial download of an interrupted pull (INC-422). Reads are
 * live; an error never counts as absent (INC-49).
 */
export type LocalImages = ReturnType<typeof createLocalImages>;
