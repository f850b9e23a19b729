import { goldenHash } from '@tartan/api';

/** An image of a registry. Repository and digest identify it; a tag is only a movable pointer (INC-424). */
export interface ImageReference {
  /** With the port: `registry.local:5000`. */
  readonly registry: string;
  /** Registry and path, without tag and digest. */
  readonly repository: string;
  /** The given tag, or `latest` without tag and digest. */
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

/** An image by digest: the same for all its tags. */
export interface PinnedImage {
  readonly repository: string;
  readonly digest: string;
}

const hostPattern = '[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?';
/** No empty, `.` or `..` part: the parts become folders. */
const pathPattern = '[A-Za-z0-9]+(?:[._-]+[A-Za-z0-9]+)*';
const referencePattern = new RegExp(
  `^((${hostPattern})(?:/${pathPattern})+)(?::(\\w[\\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$`,
);

/** `undefined`: no image that tart can pull, such as one without a registry. */
export const parseReference = (text: string): ImageReference | undefined => {
  const [, repository, registry, tag, digest] = referencePattern.exec(text) ?? [];
  if (repository === undefined || registry === undefined) return undefined;
  return { registry, repository, tag: tag ?? (digest === undefined ? 'latest' : undefined), digest };
};

export const formatDigestReference = ({ repository, digest }: PinnedImage): string => `${repository}@${digest}`;

export const formatTagReference = ({
  repository,
  tag = 'latest',
}: Pick<ImageReference, 'repository' | 'tag'>): string => `${repository}:${tag}`;

/** The name for tart. Tart does not accept a tag together with a digest, and the digest suffices. */
export const formatPullReference = (reference: ImageReference): string =>
  reference.digest === undefined ? formatTagReference(reference) : `${reference.repository}@${reference.digest}`;

const goldenPrefix = 'tuist-golden-';

/**
 * The local base that Pods of this image are cloned from. One per digest, so that a moved tag gets a new base (INC-424). Its hash is also
 * the end of a Node label, which clients compute from their image to find a warm Mac.
 */
export const goldenName = (image: PinnedImage): string =>
  `${goldenPrefix}${goldenHash(image.repository, image.digest)}`;

/** Only such a name becomes part of a label. */
export const goldenHashOf = (name: string): string | undefined =>
  isGoldenName(name) ? name.slice(goldenPrefix.length) : undefined;

export const isGoldenName = (name: string): boolean => /^tuist-golden-[0-9a-f]{16}$/.test(name);
