const part = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const domain =
  '(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*(?::[0-9]+)?';
const reference = new RegExp(
  `^(?:${domain}/)?${part}(?:/${part})*(?::([\\w][\\w.-]{0,127}))?(@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);

/** Without a tag and a digest an image means its latest. A name that is none has no tag either. */
export const isLatest = (image: string): boolean => {
  const match = reference.exec(image);
  if (!match) return false;
  const [, tag, digest] = match;
  return tag === undefined ? digest === undefined : tag === 'latest';
};
