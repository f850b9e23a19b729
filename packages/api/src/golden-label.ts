import { createHash } from 'node:crypto';
import { goldenLabelPrefix } from './names.ts';

/** What a base is made of. The same content gives the same hash on every Mac, under whatever tag it came (INC-424). */
export const goldenHash = (repository: string, digest: string): string =>
  createHash('sha256').update(`${repository}@${digest}`).digest('hex').slice(0, 16);

/** A tag beside a digest says nothing more. */
const pinned = /^([^@\s]+?)(?::\w[\w.-]{0,127})?@(sha256:[0-9a-f]{64})$/;

/**
 * The label of Nodes that hold a base of this image, for Pods that would rather go there (INC-36). `undefined` for an image that is named by
 * a tag alone: only the Macs know which content that is, and say so in `status.images`.
 */
export const goldenLabelOf = (image: string): string | undefined => {
  const [, repository, digest] = pinned.exec(image) ?? [];
  if (repository === undefined || digest === undefined) return undefined;
  return `${goldenLabelPrefix}${goldenHash(repository, digest)}`;
};
