import type { Dirent } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { goldenLabelPrefix } from '@tartan/api';
import type { Labels } from '../flags/node-labels.ts';
import {
  formatDigestReference,
  formatTagReference,
  goldenHashOf,
  isGoldenName,
  parseReference,
} from '../images/image-reference.ts';
import { vmFiles } from '../images/local-images.ts';
import { listFolder } from '../file-errors.ts';
import { imageOfBase } from '../gc/ownership.ts';
import { readOwnershipMarker } from '../journal/vm-identity.ts';
import type { LocalImage } from './host-facts.ts';

/**
 * Disk usage of a VM: the allocated blocks of its files, as a disk image is sparse. `undefined` if it is incomplete or unreadable, and
 * so cannot run.
 */
const bundleSize = async (folder: string): Promise<number | undefined> => {
  try {
    const files = await Promise.all(vmFiles.map((part) => lstat(join(folder, part))));
    return files.every((file) => file.isFile()) ? files.reduce((sum, { blocks }) => sum + blocks * 512, 0) : undefined;
  } catch {
    return undefined;
  }
};

/** An image that tart has pulled. */
interface ImageOnDisk {
  /** `repository@digest`. */
  readonly pinned: string;
  /** Each as `repository:tag`. */
  readonly tags: readonly string[];
  readonly sizeBytes: number;
}

/** Image names in registries are not deeper; a deeper folder is not walked. */
const maxDepth = 16;
const digestPattern = /^sha256:[0-9a-f]{64}$/;

/** The images of one repository. Skips unreadable ones. */
const imagesIn = async (
  folder: string,
  repository: string,
  entries: readonly Dirent[],
): Promise<readonly ImageOnDisk[]> => {
  const tags = await Promise.all(
    entries
      .filter((entry) => entry.isSymbolicLink())
      .map(async ({ name: tag }) => ({ tag, digest: (await readlink(join(folder, tag))).split('/').at(-1) })),
  );
  const images = entries
    .filter((entry) => entry.isDirectory() && digestPattern.test(entry.name))
    .map(async ({ name: digest }) => {
      const pinned = formatDigestReference({ repository, digest });
      const sizeBytes = await bundleSize(join(folder, digest));
      if (sizeBytes === undefined || parseReference(pinned) === undefined) return [];
      const own = tags.filter((tag) => tag.digest === digest).map(({ tag }) => formatTagReference({ repository, tag }));
      return [{ pinned, tags: own.filter((name) => parseReference(name) !== undefined), sizeBytes }];
    });
  return (await Promise.all(images)).flat();
};

const walkRepository = async (folder: string, repository: string, depth: number): Promise<readonly ImageOnDisk[]> => {
  if (depth > maxDepth) return [];
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const below = entries
      .filter((entry) => entry.isDirectory() && !digestPattern.test(entry.name))
      .map(({ name }) => walkRepository(join(folder, name), `${repository}/${name}`, depth + 1));
    return (await Promise.all([imagesIn(folder, repository, entries), ...below])).flat();
  } catch {
    return [];
  }
};

/**
 * All images on the disk. Does not call tart: `tart list` would delete the partial download of an interrupted pull (INC-422).
 * Rejects when the image folder cannot be read; skips unreadable entries below it.
 */
export const readImages = async (tartHome: string): Promise<readonly ImageOnDisk[]> => {
  const root = join(tartHome, 'cache', 'OCIs');
  const registries = await listFolder(root);
  const found = registries.map((name) => walkRepository(join(root, name), name.replaceAll('%3A', ':'), 0));
  return (await Promise.all(found)).flat();
};

/** A golden base: Pods are cloned from it. */
interface BaseOnDisk {
  readonly name: string;
  readonly sizeBytes: number;
  /** `repository@digest`, if its marker contains it. */
  readonly image: string | undefined;
}

/** Rejects when the VM folder cannot be read; skips unreadable bases. */
export const readGoldenBases = async (tartHome: string): Promise<readonly BaseOnDisk[]> => {
  const vms = join(tartHome, 'vms');
  const found = await Promise.all(
    (await listFolder(vms)).filter(isGoldenName).map(async (name) => {
      const folder = join(vms, name);
      const sizeBytes = await bundleSize(folder);
      return sizeBytes === undefined
        ? []
        : [{ name, sizeBytes, image: imageOfBase(name, await readOwnershipMarker(folder, name)) }];
    }),
  );
  return found.flat();
};

/**
 * The images of the Node's status. A base and its image count as one: they share their blocks, and either saves a Pod the pull. A base
 * without its image is listed under the image's name, as the scheduler knows only that.
 */
export const nodeImages = (images: readonly ImageOnDisk[], bases: readonly BaseOnDisk[]): readonly LocalImage[] => {
  const all = new Map<string, { readonly names: Set<string>; sizeBytes: number }>();
  const add = (key: string, names: readonly string[], sizeBytes: number): void => {
    const known = all.get(key) ?? { names: new Set<string>(), sizeBytes: 0 };
    for (const name of names) known.names.add(name);
    known.sizeBytes = Math.max(known.sizeBytes, sizeBytes);
    all.set(key, known);
  };
  for (const { pinned, tags, sizeBytes } of images) add(pinned, [pinned, ...tags], sizeBytes);
  for (const { name, image, sizeBytes } of bases)
    add(image ?? name, image === undefined ? [name] : [image, name], sizeBytes);
  return [...all.values()].map(({ names, sizeBytes }) => ({ names: [...names].sort(), sizeBytes }));
};

/** One label per base: Pods can select Macs that have their image. */
export const goldenLabels = (bases: readonly BaseOnDisk[]): Labels =>
  Object.fromEntries(
    bases.flatMap(({ name }) => {
      const hash = goldenHashOf(name);
      return hash === undefined ? [] : [[`${goldenLabelPrefix}${hash}`, 'true']];
    }),
  );
