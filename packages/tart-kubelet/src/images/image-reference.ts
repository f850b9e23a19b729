import { goldenHash } from '@tartan/api';

/** An image of a registry. What it is, is repository and digest; a tag only points at one for now (INC-424). */
export interface ImageReference {
  /** With its port: `registry.local:5000`. */
  readonly registry: string;
  /** Registry and path, without tag and digest. */
  readonly repository: string;
  /** What was written, or `latest` when neither a tag nor a digest was. */
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

/** Of a known content: what two names of the same image have in common. */
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

/** `undefined`: no image that tart could fetch, such as one without a registry. */
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

/** As tart is to be asked for it. A tag beside a digest says nothing more, and tart does not take both. */
export const formatPullReference = (reference: ImageReference): string =>
  reference.digest === undefined ? formatTagReference(reference) : `${reference.repository}@${reference.digest}`;

const goldenPrefix = 'tuist-golden-';

/**
 * The local base that Pods of this image are cloned from. One for each content, so that a tag that moves gets another one (INC-424). Its hash is
 * also the end of the Node's label, which others compute from the image that they ask for, to find a warm Mac.
 */
export const goldenName = (image: PinnedImage): string =>
  `${goldenPrefix}${goldenHash(image.repository, image.digest)}`;

/** Nothing but such a name becomes part of a label. */
export const goldenHashOf = (name: string): string | undefined =>
  isGoldenName(name) ? name.slice(goldenPrefix.length) : undefined;

export const isGoldenName = (name: string): boolean => /^tuist-golden-[0-9a-f]{16}$/.test(name);
