import { goldenHash } from '@tartan/api';
import type { PinnedImage } from './reference.ts';

const prefix = 'tuist-golden-';

/**
 * The local base that Pods of this image are cloned from. One for each content, so that a tag that moves gets another one (G24). Its hash is
 * also the end of the Node's label, which others compute from the image that they ask for, to find a warm Mac.
 */
export const goldenName = (image: PinnedImage): string => `${prefix}${goldenHash(image.repository, image.digest)}`;

/** Nothing but such a name becomes part of a label. */
export const goldenHashOf = (name: string): string | undefined =>
  isGoldenName(name) ? name.slice(prefix.length) : undefined;

export const isGoldenName = (name: string): boolean => /^tuist-golden-[0-9a-f]{16}$/.test(name);
