import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, mkdir, open, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Artifact } from './lock-file.ts';
import { readTar, type TarEntry, writeTar } from './tar.ts';
import { readZipMember } from './zip.ts';

/**
 * Makes of a download what the manager's flags want: the archive as it came, one executable out of it, or a tar of some. Answers where it
 * is, in `folder`.
 *
 * Guarantees: nothing is written to a path that an archive names. Members are looked for by names that we know, and get names of ours.
 */
export const extractArtifact = async (
  { take, holds, file }: Artifact,
  downloaded: string,
  folder: string,
): Promise<string> => {
  if (take === undefined) {
    await checkArchive(downloaded, holds);
    return downloaded;
  }
  const unpacked = join(folder, 'unpacked');
  await mkdir(unpacked);
  const members = take.map((member) => ({ member, to: join(unpacked, basename(member)) }));
  if (await isZip(downloaded))
    for (const { member, to } of members)
      await pipeline(
        readZipMember(downloaded, member, { most: maxUnpackedBytes }),
        createWriteStream(to, { flags: 'wx' }),
      );
  else await extractFromTar(downloaded, members);
  for (const { to } of members) await chmod(to, 0o755);
  const made = join(folder, 'made');
  const [only] = members;
  if (file.endsWith('.tar.gz'))
    await writeTar(
      members.map(({ to }) => to),
      made,
    );
  else if (only !== undefined) await rename(only.to, made);
  return made;
};

const extractFromTar = async (archive: string, members: readonly { member: string; to: string }[]): Promise<void> => {
  const found = new Set<string>();
  await forEachTarEntry(archive, async ({ name, type, content }) => {
    const wanted = members.find(({ member }) => member === name);
    if (wanted === undefined) return;
    if (type !== 'file') throw new Error(`${name} in it is not a file.`);
    if (found.has(name)) throw new Error(`it holds ${name} twice.`);
    found.add(name);
    await pipeline(content(), createWriteStream(wanted.to, { flags: 'wx' }));
  });
  const missing = members.find(({ member }) => !found.has(member));
  if (missing !== undefined) throw new Error(`it holds no ${missing.member}.`);
};

const isZip = async (file: string): Promise<boolean> => {
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.readUInt32LE(0) === 0x04034b50;
  } finally {
    await handle.close();
  }
};

/** The GitHub runner, the largest, unpacks to some 600 MB. */
const maxUnpackedBytes = 4 * 1024 * 1024 * 1024;

/**
 * Looks through a gzipped tar that Macs unpack whole, as root: nothing in it may end up elsewhere than in the folder it is unpacked into,
 * and what it is for must be there.
 */
const checkArchive = async (file: string, holds: string | undefined): Promise<void> => {
  const links = new Set<string>();
  let isThere = holds === undefined;
  await forEachTarEntry(file, async (entry) => {
    const complaint = unsafeReason(entry, links);
    if (complaint !== undefined) throw new Error(complaint);
    if (entry.type === 'symlink') links.add(entry.name);
    if (entry.name === holds && entry.type === 'file') isThere = true;
  });
  if (!isThere) throw new Error(`it holds no ${holds}.`);
};

/** Calls with every entry of a gzipped tar. */
const forEachTarEntry = (file: string, each: (entry: TarEntry) => Promise<void>): Promise<void> =>
  pipeline(createReadStream(file), createGunzip(), async (chunks: AsyncIterable<Buffer>) => {
    for await (const entry of readTar(chunks, { most: maxUnpackedBytes })) await each(entry);
    // Whatever is left is padding; it is read so that the sum of gzip is checked.
    for await (const _ of chunks);
  });

/**
 * What is wrong with an entry that comes after these symbolic links. Only plain paths are taken: with a link on the way, or `..` behind
 * something, where it leads cannot be told from the words.
 */
export const unsafeReason = (
  { name, type, target }: Pick<TarEntry, 'name' | 'type' | 'target'>,
  links: ReadonlySet<string>,
): string | undefined => {
  if (!staysInside(name)) return `it would unpack ${JSON.stringify(name)} elsewhere.`;
  const through = ancestorsOf(name).find((folder) => links.has(folder));
  if (through !== undefined)
    return `it would unpack ${JSON.stringify(name)} through the link ${JSON.stringify(through)}.`;
  if (type === 'other') return `${JSON.stringify(name)} in it is neither a file nor a folder nor a link.`;
  // A symbolic link is seen from its own folder, a hard link from the top.
  const up = type === 'symlink' ? ancestorsOf(name).length : 0;
  return (type === 'symlink' || type === 'hardlink') && !staysInside(target, up)
    ? `${JSON.stringify(name)} in it points elsewhere, to ${JSON.stringify(target)}.`
    : undefined;
};

const ancestorsOf = (name: string): string[] =>
  name
    .split('/')
    .slice(0, -1)
    .map((_, at, parts) => parts.slice(0, at + 1).join('/'));

/** Relative, and goes up at its beginning only, by no more than so many folders. */
const staysInside = (path: string, up = 0): boolean => {
  const parts = path.split('/');
  const ups = parts.findIndex((part) => part !== '..');
  return (
    path !== '' && !path.includes('\0') && parts[0] !== '' && ups >= 0 && ups <= up && !parts.slice(ups).includes('..')
  );
};
