/** An image of a registry. What it is, is repository and digest; a tag only points at one for now (G24). */
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

const host = '[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?';
/** No empty, `.` or `..` part: the parts become folders. */
const part = '[A-Za-z0-9]+(?:[._-]+[A-Za-z0-9]+)*';
const pattern = new RegExp(`^((${host})(?:/${part})+)(?::(\\w[\\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$`);

/** `undefined`: no image that tart could fetch, such as one without a registry. */
export const parseReference = (text: string): ImageReference | undefined => {
  const [, repository, registry, tag, digest] = pattern.exec(text) ?? [];
  if (repository === undefined || registry === undefined) return undefined;
  return { registry, repository, tag: tag ?? (digest === undefined ? 'latest' : undefined), digest };
};

export const pinnedText = ({ repository, digest }: PinnedImage): string => `${repository}@${digest}`;

export const tagText = ({ repository, tag = 'latest' }: Pick<ImageReference, 'repository' | 'tag'>): string =>
  `${repository}:${tag}`;

/** As tart is to be asked for it. A tag beside a digest says nothing more, and tart does not take both. */
export const askedText = (reference: ImageReference): string =>
  reference.digest === undefined ? tagText(reference) : `${reference.repository}@${reference.digest}`;

export const isSameImage = (one: PinnedImage, other: PinnedImage): boolean =>
  one.digest === other.digest && one.repository === other.repository;
