import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { sha256Checksum, sha256Of } from './checksum.ts';
import { download, type DownloadOptions } from './download.ts';
import { extractArtifact } from './extract.ts';
import { type Artifact, urlOf } from './lock-file.ts';

/**
 * Records which download each file was made of, and its checksum then. The lock file has the checksums of downloads, and most files are
 * only a part of one.
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
    // Missing or invalid: all files are fetched again.
    return {};
  }
};

const recordOf = ({ version, checksum, take = [] }: Artifact, sha256: string): Records[string] => ({
  version,
  download: checksum ?? '',
  take: [...take],
  sha256,
});

const writeRecord = async (folder: string, artifact: Artifact, sha256: string): Promise<void> => {
  const all = { ...(await readRecords(folder)), [artifact.name]: recordOf(artifact, sha256) };
  await replaceFile(join(folder, recordFile), `${JSON.stringify(all, undefined, 2)}\n`);
};

/** A reader gets the old file or the new one. */
export const replaceFile = async (file: string, text: string): Promise<void> => {
  const next = `${file}.${process.pid}`;
  await writeFile(next, text);
  await rename(next, file);
};

/** Why the file of an artifact does not match the lock file. Undefined: it matches. */
export const mismatchOf = async (folder: string, artifact: Artifact): Promise<string | undefined> => {
  const file = join(folder, artifact.file);
  const isThere = await stat(file).then(
    (found) => found.isFile(),
    () => false,
  );
  if (!isThere) return 'the file is missing';
  const sha256 = await sha256Of(file);
  const found = sha256Checksum(sha256);
  // An unchanged download can be compared with the lock file itself.
  if (artifact.take === undefined && artifact.checksumKind === 'sha256' && artifact.checksum !== undefined)
    return found === artifact.checksum ? undefined : `the file has ${found}, and the lock file ${artifact.checksum}`;
  const record = (await readRecords(folder))[artifact.name];
  if (record === undefined) return 'fetched.json does not list the file';
  if (JSON.stringify(record) === JSON.stringify(recordOf(artifact, sha256))) return undefined;
  return record.sha256 === sha256
    ? `the file was made of ${artifact.name} ${record.version} with ${record.download}, which is not in the lock file`
    : 'the file has changed since it was fetched';
};

/** The registry of Homebrew is public, but requires a token: any value works. */
const anonymousAuth = { authorization: 'Bearer QQ==' };

export const headersFor = ({ bottle }: Artifact): Record<string, string> => (bottle === undefined ? {} : anonymousAuth);

export const missingChecksumMessage = ({ name, version }: Artifact): string =>
  `the lock file has no checksum of ${name} ${version}. Run tartan artifacts lock ${name}, and compare the checksum with the one that the project publishes.`;

/**
 * Fetches one artifact, unless its file matches the lock file. Returns whether it was fetched.
 *
 * Flow: download to a temporary folder, compare the checksum, convert, rename, record.
 * Guarantees: a file gets its name only after its checksum was compared; an old file stays until then; no temporary file is left.
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
    const found = await download({ url, headers: headersFor(artifact), to, kind: artifact.checksumKind }, options);
    if (found !== checksum)
      throw new Error(
        `the download of ${url} has ${found}, and the lock file ${checksum}. It was discarded. If the project has replaced its release, find out why before you change the lock file.`,
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
