import { createHash } from 'node:crypto';
import { type PinnedImage, pinnedText } from './reference.ts';

const prefix = 'tuist-golden-';

/** Also the end of the Node label `tuist.dev/golden-<hash>`: others compute it from the image they ask for, to find a warm Mac. */
const goldenHash = (image: PinnedImage): string =>
  createHash('sha256').update(pinnedText(image)).digest('hex').slice(0, 16);

/** The local base that Pods of this image are cloned from. One for each content, so that a tag that moves gets another one (G24). */
export const goldenName = (image: PinnedImage): string => `${prefix}${goldenHash(image)}`;

/** Nothing but such a name becomes part of a label. */
export const goldenHashOf = (name: string): string | undefined =>
  isGoldenName(name) ? name.slice(prefix.length) : undefined;

export const isGoldenName = (name: string): boolean => /^tuist-golden-[0-9a-f]{16}$/.test(name);
