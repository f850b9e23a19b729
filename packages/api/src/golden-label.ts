import { createHash } from 'node:crypto';
import { goldenLabelPrefix } from './names.ts';

/** Identifies the content of a base. The same content gives the same hash on every Mac, under any tag (INC-424). */
export const goldenHash = (repository: string, digest: string): string =>
  createHash('sha256').update(`${repository}@${digest}`).digest('hex').slice(0, 16);

/** A tag beside a digest is ignored. */
const pinned = /^([^@\s]+?)(?::\w[\w.-]{0,127})?@(sha256:[0-9a-f]{64})$/;

/**
 * The label of Nodes that have a base of this image, for Pods that prefer such Nodes (INC-36). `undefined` for an image with only a tag:
 * only the Macs know its digest, and report it in `status.images`.
 */
export const goldenLabelOf = (image: string): string | undefined => {
  const [, repository, digest] = pinned.exec(image) ?? [];
  if (repository === undefined || digest === undefined) return undefined;
  return `${goldenLabelPrefix}${goldenHash(repository, digest)}`;
};
