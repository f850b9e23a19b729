import { chmod, constants, copyFile, cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buildAgent } from '../build-agent.ts';
import { buildInstaller } from '../build-installer.ts';
import { buildManager } from '../build-manager.ts';
import { buildRunners } from '../build-runners.ts';
import { buildUninstallCheck } from '../build-uninstall-check.ts';
import { layBase } from './lay-base.ts';
import { type ArtifactName, imageFiles } from './layout.ts';

export interface AssembleOptions {
  /** Becomes the root of the image's file system; made when missing. */
  readonly folder: string;
  /**
   * Files that stand in for software for Macs, and for our own agent, by what they stand in for. Of what is not named there is a file that
   * says so, and our own agent is built.
   */
  readonly artifacts?: Readonly<Partial<Record<ArtifactName | 'tart-kubelet', string>>>;
}

/**
 * The file system of the image in a folder, made without a daemon: the same files at the same places as the Dockerfile has them. This
 * machine's node and the libraries that it needs stand in for the base image, so it runs here and nowhere else.
 */
export const assembleImage = async ({ folder, artifacts = {} }: AssembleOptions): Promise<void> => {
  for (const file of imageFiles) {
    const to = join(folder, file.path);
    await mkdir(dirname(to), { recursive: true });
    if ('artifact' in file) await putArtifact(to, file.artifact, artifacts[file.artifact]);
    else if (file.from === 'node') await copyFile(process.execPath, to, constants.COPYFILE_FICLONE);
    else if (file.from === 'manager')
      await Promise.all([buildManager(to), buildInstaller(to), buildUninstallCheck(to)]);
    else if (file.from === 'runners.mjs') await buildRunners(dirname(to));
    else if (artifacts['tart-kubelet'] !== undefined) await cp(artifacts['tart-kubelet'], to);
    else await buildAgent(dirname(to));
  }
  await layBase(folder);
  // Temporary folders are closed to others, and the image's user is another.
  await chmod(folder, 0o755);
};

const putArtifact = (to: string, name: ArtifactName, file: string | undefined): Promise<void> =>
  file === undefined
    ? writeFile(to, `In an image there is ${name} here, for Macs.\n`)
    : copyFile(file, to, constants.COPYFILE_FICLONE);
