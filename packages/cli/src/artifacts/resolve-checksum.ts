import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type Checksum, checksumText, sameChecksum } from './checksum.ts';
import { download, type DownloadOptions, downloadText } from './download.ts';
import { extractArtifact } from './extract.ts';
import { headersFor } from './fetch.ts';
import { type Artifact, urlOf } from './lock-file.ts';

/**
 * Finds the sum of a version: downloads it once, and makes sure that what the image needs is in it. It says what the file is, not that it
 * is the right one: that is for people to compare.
 */
export const resolveChecksum = async (artifact: Artifact, options: DownloadOptions): Promise<Checksum> => {
  const published =
    artifact.bottle === undefined ? undefined : await bottleChecksum(artifact, artifact.bottle, options);
  const workFolder = await mkdtemp(join(tmpdir(), 'tartan-lock-'));
  try {
    const to = join(workFolder, 'downloaded');
    const url = urlOf({ ...artifact, checksum: published });
    const sum = await download({ url, headers: headersFor(artifact), to, kind: artifact.checksumKind }, options);
    if (published !== undefined && !sameChecksum(published, sum))
      throw new Error(`${url} has ${checksumText(sum)}, and the registry says ${checksumText(published)}.`);
    await extractArtifact(artifact, to, workFolder);
    return sum;
  } finally {
    await rm(workFolder, { recursive: true, force: true });
  }
};

const ociIndex = z.object({
  manifests: z.array(
    z.object({
      annotations: z
        .object({ 'org.opencontainers.image.ref.name': z.string(), 'sh.brew.bottle.digest': z.string().optional() })
        .optional(),
    }),
  ),
});

/** Homebrew's registry knows a build by its sum alone; the index of a version says which that is for a release of macOS. */
const bottleChecksum = async (artifact: Artifact, bottle: string, options: DownloadOptions): Promise<Checksum> => {
  const { urlTemplate, version } = artifact;
  const url = `${urlTemplate.replace(/\/blobs\/.*$/, '')}/manifests/${version}`;
  const headers = { ...headersFor(artifact), accept: 'application/vnd.oci.image.index.v1+json' };
  const { manifests } = ociIndex.parse(JSON.parse(await downloadText({ url, headers }, options)));
  const name = `${version}.${bottle}`;
  const sha256 = manifests
    .map(({ annotations }) => annotations)
    .find((each) => each?.['org.opencontainers.image.ref.name'] === name)?.['sh.brew.bottle.digest'];
  if (sha256 === undefined || !/^[0-9a-f]{64}$/.test(sha256)) throw new Error(`${url} lists no ${name}.`);
  return { sha256 };
};
