import { goldenLabelPrefix } from '@tartan/api';
import { goldenHashOf } from '../images/golden-name.ts';
import type { Labels } from '../flags/node-labels.ts';
import type { LocalImage } from '../node/host-facts.ts';
import type { BaseOnDisk } from './bases-on-disk.ts';
import type { ImageOnDisk } from './images-on-disk.ts';

/**
 * What the Node says of images. A base and the image that it was made of are one: they share their blocks, and either spares a Pod the
 * download. A base whose image is gone still goes by the image's name, as whoever chooses a Node knows only that.
 */
export const imageFacts = (images: readonly ImageOnDisk[], bases: readonly BaseOnDisk[]): readonly LocalImage[] => {
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

/** One for each base: others ask for a Mac that has the label of their image (§2.4, §5.1). */
export const goldenLabels = (bases: readonly BaseOnDisk[]): Labels =>
  Object.fromEntries(
    bases.flatMap(({ name }) => {
      const hash = goldenHashOf(name);
      return hash === undefined ? [] : [[`${goldenLabelPrefix}${hash}`, 'true']];
    }),
  );
