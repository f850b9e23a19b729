import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Artifact } from './lock-file.ts';
import { sha256Of, sumText } from './sum.ts';

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

const recordOf = ({ version, sum, take = [] }: Artifact, sha256: string): Records[string] => ({
  version,
  download: sum === undefined ? '' : sumText(sum),
  take: [...take],
  sha256,
});

export const remember = async (folder: string, artifact: Artifact, sha256: string): Promise<void> => {
  const all = { ...(await readRecords(folder)), [artifact.name]: recordOf(artifact, sha256) };
  const next = join(folder, `.${recordFile}.${process.pid}`);
  await writeFile(next, `${JSON.stringify(all, undefined, 2)}\n`);
  await rename(next, join(folder, recordFile));
};

/** What is wrong with the file of an artifact; undefined when it is what the lock says. */
export const complaintAboutFile = async (folder: string, artifact: Artifact): Promise<string | undefined> => {
  const file = join(folder, artifact.file);
  const isThere = await stat(file).then(
    (found) => found.isFile(),
    () => false,
  );
  if (!isThere) return 'it is not there';
  const sha256 = await sha256Of(file);
  // One that stays as it came can be held against the lock itself.
  if (artifact.take === undefined && artifact.sum !== undefined && 'sha256' in artifact.sum)
    return sha256 === artifact.sum.sha256
      ? undefined
      : `it has sha256 ${sha256}, and the lock says ${artifact.sum.sha256}`;
  const record = (await readRecords(folder))[artifact.name];
  if (record === undefined) return 'nothing is known of where it came from';
  if (JSON.stringify(record) === JSON.stringify(recordOf(artifact, sha256))) return undefined;
  return record.sha256 === sha256
    ? `it was made of ${artifact.name} ${record.version} with ${record.download}, and the lock says otherwise`
    : 'it has changed since it was fetched';
};
