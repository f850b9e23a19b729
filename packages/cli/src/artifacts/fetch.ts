import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { checksumKindOf, checksumText, sameChecksum, sha256Of } from './checksum.ts';
import { download, type DownloadOptions } from './download.ts';
import { extractArtifact } from './extract.ts';
import { type Artifact, urlOf } from './lock-file.ts';

/**
 * What was made of which download, beside the files. The lock knows the sums of downloads, and most files are only a part of one: this says
 * what they were when they were made, so that one that was cut, changed or left from an older lock is found.
 */
const recordFile = 'fetched.json';

const records = z.record(
  z.string(),
  z.strictObject({ version: z.string(), download: z.string(), take: z.array(z.string()), sha256: z.string() }),
);
type Records = z.infer<typeof records>;

const readRecords = async (folder: string): Promise<Records> => {
  try {
    return records.parse(JSON.parse(await readFile(join(folder, recordFile), 'utf8')));
  } catch {
    // Not there, or not ours: then nothing is known of these files.
    return {};
  }
};

const recordOf = ({ version, checksum, take = [] }: Artifact, sha256: string): Records[string] => ({
  version,
  download: checksum === undefined ? '' : checksumText(checksum),
  take: [...take],
  sha256,
});

const writeRecord = async (folder: string, artifact: Artifact, sha256: string): Promise<void> => {
  const all = { ...(await readRecords(folder)), [artifact.name]: recordOf(artifact, sha256) };
  const next = join(folder, `.${recordFile}.${process.pid}`);
  await writeFile(next, `${JSON.stringify(all, undefined, 2)}\n`);
  await rename(next, join(folder, recordFile));
};

/** What is wrong with the file of an artifact; undefined when it is what the lock says. */
export const mismatchOf = async (folder: string, artifact: Artifact): Promise<string | undefined> => {
  const file = join(folder, artifact.file);
  const isThere = await stat(file).then(
    (found) => found.isFile(),
    () => false,
  );
  if (!isThere) return 'it is not there';
  const sha256 = await sha256Of(file);
  // One that stays as it came can be held against the lock itself.
  if (artifact.take === undefined && artifact.checksum !== undefined && 'sha256' in artifact.checksum)
    return sha256 === artifact.checksum.sha256
      ? undefined
      : `it has sha256 ${sha256}, and the lock says ${artifact.checksum.sha256}`;
  const record = (await readRecords(folder))[artifact.name];
  if (record === undefined) return 'nothing is known of where it came from';
  if (JSON.stringify(record) === JSON.stringify(recordOf(artifact, sha256))) return undefined;
  return record.sha256 === sha256
    ? `it was made of ${artifact.name} ${record.version} with ${record.download}, and the lock says otherwise`
    : 'it has changed since it was fetched';
};

/** Homebrew's builds are open to everybody, and the registry wants a token all the same: any will do. */
const anonymousAuth = { authorization: 'Bearer QQ==' };

export const headersFor = ({ bottle }: Artifact): Record<string, string> => (bottle === undefined ? {} : anonymousAuth);

/** An artifact without a sum could be anything: it is never used. */
export const missingChecksumMessage = ({ name, version }: Artifact): string =>
  `${name} ${version} has no sum in the lock, so nobody could tell whether it is the right one. Run tartan artifacts lock ${name}, and compare what it finds with what the project publishes.`;

/**
 * Brings one artifact into the folder, unless it is there already. Answers whether it was fetched.
 *
 * Flow: download beside, compare the sum, convert, put in place by a rename, remember what it was made of.
 * Guarantees: a file gets its name only when its sum is right; one that was there before stays until then; nothing is left behind.
 */
export const fetchArtifact = async (artifact: Artifact, folder: string, options: DownloadOptions): Promise<boolean> => {
  const { checksum, file } = artifact;
  if (checksum === undefined) throw new Error(missingChecksumMessage(artifact));
  if ((await mismatchOf(folder, artifact)) === undefined) return false;
  await mkdir(folder, { recursive: true });
  const workFolder = await mkdtemp(join(folder, '.fetch-'));
  try {
    const url = urlOf(artifact);
    const to = join(workFolder, 'downloaded');
    const found = await download({ url, headers: headersFor(artifact), to, kind: checksumKindOf(checksum) }, options);
    if (!sameChecksum(found, checksum))
      throw new Error(
        `what came from ${url} has ${checksumText(found)}, and the lock says ${checksumText(checksum)}. Nothing of it was kept. If the project has replaced its release, find out why before you change the lock.`,
      );
    const made = await extractArtifact(artifact, to, workFolder);
    const sha256 = await sha256Of(made);
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await rename(made, join(folder, file));
    await writeRecord(folder, artifact, sha256);
    return true;
  } finally {
    await rm(workFolder, { recursive: true, force: true });
  }
};
