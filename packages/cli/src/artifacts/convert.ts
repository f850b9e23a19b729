import { createWriteStream } from 'node:fs';
import { chmod, mkdir, open, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { checkArchive, mostUnpacked, throughTar } from './check-archive.ts';
import type { Artifact } from './lock-file.ts';
import { readZipMember } from './read-zip.ts';
import { writeTar } from './write-tar.ts';

/**
 * Makes of a download what the manager's flags want: the archive as it came, one executable out of it, or a tar of some. Answers where it
 * is, in `folder`.
 *
 * Guarantees: nothing is written to a path that an archive names. Members are looked for by names that we know, and get names of ours.
 */
export const convert = async ({ take, holds, file }: Artifact, downloaded: string, folder: string): Promise<string> => {
  if (take === undefined) {
    await checkArchive(downloaded, holds);
    return downloaded;
  }
  const unpacked = join(folder, 'unpacked');
  await mkdir(unpacked);
  const members = take.map((member) => ({ member, to: join(unpacked, basename(member)) }));
  if (await isZip(downloaded))
    for (const { member, to } of members)
      await pipeline(readZipMember(downloaded, member, { most: mostUnpacked }), createWriteStream(to, { flags: 'wx' }));
  else await fromTar(downloaded, members);
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

const fromTar = async (archive: string, members: readonly { member: string; to: string }[]): Promise<void> => {
  const found = new Set<string>();
  await throughTar(archive, async ({ name, type, content }) => {
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
