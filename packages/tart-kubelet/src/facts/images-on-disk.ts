import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { parseReference, pinnedText, tagText } from '../images/reference.ts';
import { bundleSize } from './bundle-size.ts';
import { namesIn } from './names-in.ts';

/** An image that tart has fetched. */
export interface ImageOnDisk {
  /** `repository@digest`. */
  readonly pinned: string;
  /** Each as `repository:tag`. */
  readonly tags: readonly string[];
  readonly sizeBytes: number;
}

/** A registry gives out no deeper names; what is deeper is no image of ours to walk through. */
const deepest = 16;
const digestPattern = /^sha256:[0-9a-f]{64}$/;

/** Those of one repository. What cannot be read of it is left out. */
const imagesIn = async (folder: string, repository: string): Promise<readonly ImageOnDisk[]> => {
  const entries = await readdir(folder, { withFileTypes: true });
  const tags = await Promise.all(
    entries
      .filter((entry) => entry.isSymbolicLink())
      .map(async ({ name: tag }) => ({ tag, digest: (await readlink(join(folder, tag))).split('/').at(-1) })),
  );
  const images = entries
    .filter((entry) => entry.isDirectory() && digestPattern.test(entry.name))
    .map(async ({ name: digest }) => {
      const pinned = pinnedText({ repository, digest });
      const sizeBytes = await bundleSize(join(folder, digest));
      if (sizeBytes === undefined || parseReference(pinned) === undefined) return [];
      const own = tags.filter((tag) => tag.digest === digest).map(({ tag }) => tagText({ repository, tag }));
      return [{ pinned, tags: own.filter((name) => parseReference(name) !== undefined), sizeBytes }];
    });
  return (await Promise.all(images)).flat();
};

const foldersIn = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory() && !digestPattern.test(entry.name)).map(({ name }) => name);
};

const walk = async (folder: string, repository: string, depth: number): Promise<readonly ImageOnDisk[]> => {
  if (depth > deepest) return [];
  try {
    const below = (await foldersIn(folder)).map((name) => walk(join(folder, name), `${repository}/${name}`, depth + 1));
    return (await Promise.all([imagesIn(folder, repository), ...below])).flat();
  } catch {
    return [];
  }
};

/**
 * All images, as they lie on the disk (§7.2). tart itself is not asked: it would throw away the part of a pull that was cut (G22).
 * Rejects when the folder of images cannot be read; what cannot be read below it is left out, and hides nothing else.
 */
export const imagesOnDisk = async (tartHome: string): Promise<readonly ImageOnDisk[]> => {
  const root = join(tartHome, 'cache', 'OCIs');
  const registries = await namesIn(root);
  const found = registries.map((name) => walk(join(root, name), name.replaceAll('%3A', ':'), 0));
  return (await Promise.all(found)).flat();
};
