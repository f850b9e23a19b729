import { join } from 'node:path';
import { standInAgent } from '@tartan/sim-agent';
import { standInSoftware } from '@tartan/sim-mac';

/** What the provider puts on Macs, as flags that say where it lies: small files that play the real software. */
export const artifactFlags = async (
  folder: string,
  agent: Parameters<typeof standInAgent>[1],
): Promise<readonly string[]> => {
  const files = join(folder, 'artifacts');
  const { tart } = await standInSoftware(files);
  const { runtime, release } = await standInAgent(files, agent);
  return [
    `--agent-runtime-path=${runtime.file}`,
    `--agent-release-path=${release.file}`,
    `--tart-tarball-path=${tart.file}`,
  ];
};
