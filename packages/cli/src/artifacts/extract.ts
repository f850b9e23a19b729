import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, mkdir, open, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Artifact } from './lock-file.ts';
import { readTar, type TarEntry, writeTar } from './tar.ts';
import { readZipMember } from './zip.ts';

/**
 * Converts a download to the file of the image: the archive itself, one executable of it, or a tar of some. Returns its path in `folder`.
 *
 * Guarantees: an archive never chooses a path. Members are found by known names, and are written under fixed names.
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
      await pipeline(readZipMember(downloaded, member, maxUnpackedBytes), createWriteStream(to, { flags: 'wx' }));
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
    if (type !== 'file') throw new Error(`${name} in the archive is not a file.`);
    if (found.has(name)) throw new Error(`the archive has ${name} twice.`);
    found.add(name);
    await pipeline(content(), createWriteStream(wanted.to, { flags: 'wx' }));
  });
  const missing = members.find(({ member }) => !found.has(member));
  if (missing !== undefined) throw new Error(`the archive has no ${missing.member}.`);
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

/** The largest, the GitHub runner, unpacks to some 600 MB. */
const maxUnpackedBytes = 4 * 1024 * 1024 * 1024;

/** Checks a gzipped tar that Macs unpack as root: all entries must stay in its folder, and `holds` must exist. */
const checkArchive = async (file: string, holds: string | undefined): Promise<void> => {
  const links = new Set<string>();
  let isThere = holds === undefined;
  await forEachTarEntry(file, async (entry) => {
    const reason = unsafeReason(entry, links);
    if (reason !== undefined) throw new Error(reason);
    if (entry.type === 'symlink') links.add(entry.name);
    if (entry.name === holds && entry.type === 'file') isThere = true;
  });
  if (!isThere) throw new Error(`the archive has no ${holds}.`);
};

const forEachTarEntry = (file: string, each: (entry: TarEntry) => Promise<void>): Promise<void> =>
  pipeline(createReadStream(file), createGunzip(), async (chunks: AsyncIterable<Buffer>) => {
    for await (const entry of readTar(chunks, maxUnpackedBytes)) await each(entry);
    // The padding is read too, so that the checksum of gzip is verified.
    for await (const _ of chunks);
  });

/** Why an entry that follows these symbolic links is unsafe. Paths through a link, or with `..` inside, are rejected. */
export const unsafeReason = (
  { name, type, target }: Pick<TarEntry, 'name' | 'type' | 'target'>,
  links: ReadonlySet<string>,
): string | undefined => {
  if (!staysInside(name)) return `the archive would write ${JSON.stringify(name)} outside of its folder.`;
  const through = ancestorsOf(name).find((folder) => links.has(folder));
  if (through !== undefined)
    return `the archive would write ${JSON.stringify(name)} through the link ${JSON.stringify(through)}.`;
  if (type === 'other') return `${JSON.stringify(name)} in the archive is neither a file, a folder nor a link.`;
  // A symbolic link is relative to its folder, a hard link to the top.
  const up = type === 'symlink' ? ancestorsOf(name).length : 0;
  return (type === 'symlink' || type === 'hardlink') && !staysInside(target, up)
    ? `${JSON.stringify(name)} in the archive links to ${JSON.stringify(target)}, outside of its folder.`
    : undefined;
};

const ancestorsOf = (name: string): string[] =>
  name
    .split('/')
    .slice(0, -1)
    .map((_, at, parts) => parts.slice(0, at + 1).join('/'));

/** A relative path with `..` only at its beginning, and at most `up` times. */
const staysInside = (path: string, up = 0): boolean => {
  const parts = path.split('/');
  const ups = parts.findIndex((part) => part !== '..');
  return (
    path !== '' && !path.includes('\0') && parts[0] !== '' && ups >= 0 && ups <= up && !parts.slice(ups).includes('..')
  );
};
