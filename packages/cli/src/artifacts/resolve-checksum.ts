import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { sha256Checksum } from './checksum.ts';
import { download, type DownloadOptions, downloadText } from './download.ts';
import { extractArtifact } from './extract.ts';
import { headersFor } from './fetch.ts';
import { type Artifact, urlOf } from './lock-file.ts';

/** Downloads an artifact, checks that it contains the files of the image, and returns its checksum. A person must compare the checksum. */
export const resolveChecksum = async (artifact: Artifact, options: DownloadOptions): Promise<string> => {
  const published =
    artifact.bottle === undefined ? undefined : await bottleChecksum(artifact, artifact.bottle, options);
  const workFolder = await mkdtemp(join(tmpdir(), 'tartan-lock-'));
  try {
    const to = join(workFolder, 'downloaded');
    const url = urlOf({ ...artifact, checksum: published });
    const sum = await download({ url, headers: headersFor(artifact), to, kind: artifact.checksumKind }, options);
    if (published !== undefined && published !== sum)
      throw new Error(`${url} has ${sum}, and the registry lists ${published}.`);
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

/** The checksum of a Homebrew build, from the index of its version. */
const bottleChecksum = async (artifact: Artifact, bottle: string, options: DownloadOptions): Promise<string> => {
  const { urlTemplate, version } = artifact;
  const url = `${urlTemplate.replace(/\/blobs\/.*$/, '')}/manifests/${version}`;
  const headers = { ...headersFor(artifact), accept: 'application/vnd.oci.image.index.v1+json' };
  const { manifests } = ociIndex.parse(JSON.parse(await downloadText({ url, headers }, options)));
  const name = `${version}.${bottle}`;
  const sha256 = manifests
    .map(({ annotations }) => annotations)
    .find((each) => each?.['org.opencontainers.image.ref.name'] === name)?.['sh.brew.bottle.digest'];
  if (sha256 === undefined || !/^[0-9a-f]{64}$/.test(sha256)) throw new Error(`${url} lists no ${name}.`);
  return sha256Checksum(sha256);
};
