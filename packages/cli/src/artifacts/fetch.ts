import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { convert } from './convert.ts';
import { type DownloadOptions, download } from './download.ts';
import { type Artifact, urlOf } from './lock-file.ts';
import { complaintAboutFile, remember } from './record.ts';
import { isSame, kindOf, sha256Of, sumText } from './sum.ts';

/** Homebrew's builds are open to everybody, and the registry wants a token all the same: any will do. */
const anonymous = { authorization: 'Bearer QQ==' };

export const headersFor = ({ bottle }: Artifact): Record<string, string> => (bottle === undefined ? {} : anonymous);

/** An artifact without a sum could be anything: it is never used. */
export const withoutSum = ({ name, version }: Artifact): string =>
  `${name} ${version} has no sum in the lock, so nobody could tell whether it is the right one. Run tartan artifacts lock ${name}, and compare what it finds with what the project publishes.`;

/**
 * Brings one artifact into the folder, unless it is there already. Answers whether it was fetched.
 *
 * Flow: download beside, compare the sum, convert, put in place by a rename, remember what it was made of.
 * Guarantees: a file gets its name only when its sum is right; one that was there before stays until then; nothing is left behind.
 */
export const fetchArtifact = async (artifact: Artifact, folder: string, options: DownloadOptions): Promise<boolean> => {
  const { sum, file } = artifact;
  if (sum === undefined) throw new Error(withoutSum(artifact));
  if ((await complaintAboutFile(folder, artifact)) === undefined) return false;
  await mkdir(folder, { recursive: true });
  const beside = await mkdtemp(join(folder, '.fetch-'));
  try {
    const url = urlOf(artifact);
    const to = join(beside, 'downloaded');
    const found = await download({ url, headers: headersFor(artifact), to, kind: kindOf(sum) }, options);
    if (!isSame(found, sum))
      throw new Error(
        `what came from ${url} has ${sumText(found)}, and the lock says ${sumText(sum)}. Nothing of it was kept. If the project has replaced its release, find out why before you change the lock.`,
      );
    const made = await convert(artifact, to, beside);
    const sha256 = await sha256Of(made);
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await rename(made, join(folder, file));
    await remember(folder, artifact, sha256);
    return true;
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
};
