import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { readTar, type TarEntry } from './read-tar.ts';

/** The GitHub runner, the largest, unpacks to some 600 MB. */
export const mostUnpacked = 4 * 1024 * 1024 * 1024;

/**
 * Looks through a gzipped tar that Macs unpack whole, as root: nothing in it may end up elsewhere than in the folder it is unpacked into,
 * and what it is for must be there.
 */
export const checkArchive = async (file: string, holds: string | undefined): Promise<void> => {
  const links = new Set<string>();
  let isThere = holds === undefined;
  await throughTar(file, async (entry) => {
    const complaint = complaintAbout(entry, links);
    if (complaint !== undefined) throw new Error(complaint);
    if (entry.type === 'symlink') links.add(entry.name);
    if (entry.name === holds && entry.type === 'file') isThere = true;
  });
  if (!isThere) throw new Error(`it holds no ${holds}.`);
};

/** Calls with every entry of a gzipped tar. */
export const throughTar = (file: string, each: (entry: TarEntry) => Promise<void>): Promise<void> =>
  pipeline(createReadStream(file), createGunzip(), async (chunks: AsyncIterable<Buffer>) => {
    for await (const entry of readTar(chunks, { most: mostUnpacked })) await each(entry);
    // Whatever is left is padding; it is read so that the sum of gzip is checked.
    for await (const _ of chunks);
  });

/**
 * What is wrong with an entry that comes after these symbolic links. Only plain paths are taken: with a link on the way, or `..` behind
 * something, where it leads cannot be told from the words.
 */
export const complaintAbout = (
  { name, type, target }: Pick<TarEntry, 'name' | 'type' | 'target'>,
  links: ReadonlySet<string>,
): string | undefined => {
  if (!isPlain(name)) return `it would unpack ${JSON.stringify(name)} elsewhere.`;
  const through = ancestorsOf(name).find((folder) => links.has(folder));
  if (through !== undefined)
    return `it would unpack ${JSON.stringify(name)} through the link ${JSON.stringify(through)}.`;
  if (type === 'other') return `${JSON.stringify(name)} in it is neither a file nor a folder nor a link.`;
  // A symbolic link is seen from its own folder, a hard link from the top.
  const up = type === 'symlink' ? ancestorsOf(name).length : 0;
  return (type === 'symlink' || type === 'hardlink') && !isPlain(target, up)
    ? `${JSON.stringify(name)} in it points elsewhere, to ${JSON.stringify(target)}.`
    : undefined;
};

const ancestorsOf = (name: string): string[] =>
  name
    .split('/')
    .slice(0, -1)
    .map((_, at, parts) => parts.slice(0, at + 1).join('/'));

/** Relative, and goes up at its beginning only, by no more than so many folders. */
const isPlain = (path: string, up = 0): boolean => {
  const parts = path.split('/');
  const ups = parts.findIndex((part) => part !== '..');
  return (
    path !== '' && !path.includes('\0') && parts[0] !== '' && ups >= 0 && ups <= up && !parts.slice(ups).includes('..')
  );
};
