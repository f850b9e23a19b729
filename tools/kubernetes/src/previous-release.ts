import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The commit that tests install before they upgrade to the working tree. */
export const previousRelease = '704200dc0c003e38aaac153aefa8544053398a37';

const repository = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** Puts the files of that commit, or those below `paths` in it, into `folder`. Needs git and the commit: a shallow clone lacks it. */
export const unpackPreviousRelease = async (folder: string, paths: readonly string[] = []): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  const archive = join(folder, 'previous-release.tar');
  try {
    await run('git', ['-C', repository, 'archive', `--output=${archive}`, previousRelease, ...paths]);
    await run('tar', ['-x', '-f', archive, '-C', folder]);
  } catch (cause) {
    throw new Error(
      `cannot unpack commit ${previousRelease}, which upgrade tests start from; in a shallow clone run: git fetch --unshallow`,
      { cause },
    );
  } finally {
    rmSync(archive, { force: true });
  }
};
