import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { cacheFolder, fillOnce } from './build/cache.ts';

/** The commit that tests install before they upgrade to the working tree. */
export const previousRelease = '704200dc0c003e38aaac153aefa8544053398a37';

const repository = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** Extracts the files of that commit, or those below `paths`, to `folder`. Needs git and the commit, which a shallow clone lacks. */
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

export interface BuiltRelease {
  /** Its chart. */
  readonly chart: string;
  /** Its programs, as `npm run build` writes them to `dist/`. */
  readonly programs: string;
}

/** The previous release, built once with its own tools, and kept in the cache folder under its commit. */
export const buildPreviousRelease = async (env: NodeJS.ProcessEnv = process.env): Promise<BuiltRelease> => {
  const folder = join(cacheFolder(env), 'releases', previousRelease);
  await fillOnce(folder, async (temporary) => {
    const checkout = await mkdtemp(join(tmpdir(), 'tartan-previous-release-'));
    try {
      await unpackPreviousRelease(checkout);
      await installPackages(checkout);
      await run(process.execPath, ['tools/build/src/main.ts'], { cwd: checkout });
      for (const kept of ['charts', 'dist/manager', 'dist/runners.mjs', 'dist/tart-kubelet.mjs'])
        await cp(join(checkout, kept), join(temporary, kept), { recursive: true });
    } finally {
      await rm(checkout, { recursive: true, force: true });
    }
  });
  return { chart: join(folder, 'charts/tartan'), programs: join(folder, 'dist') };
};

interface LockedPackage {
  readonly link?: boolean;
  readonly resolved?: string;
}

const lockedPackages = async (checkout: string): Promise<[path: string, locked: LockedPackage][]> => {
  const { packages }: { packages: Record<string, LockedPackage> } = JSON.parse(
    await readFile(join(checkout, 'package-lock.json'), 'utf8'),
  );
  return Object.entries(packages).filter(([path]) => path.includes('node_modules/'));
};

/** From this checkout if both lock the same packages, else from the registry. Workspaces are always its own. */
const installPackages = async (checkout: string): Promise<void> => {
  const [theirs, ours] = [await lockedPackages(checkout), await lockedPackages(repository)];
  const others = (all: typeof theirs) => all.filter(([, { link }]) => link !== true);
  if (!isDeepStrictEqual(others(theirs), others(ours))) {
    await run('npm', ['ci', '--ignore-scripts'], { cwd: checkout });
    return;
  }
  const workspaces = theirs.flatMap(([path, { link, resolved }]) =>
    link === true && resolved !== undefined ? [{ path: join(checkout, path), folder: join(checkout, resolved) }] : [],
  );
  await linkAll(join(repository, 'node_modules'), join(checkout, 'node_modules'));
  for (const { path, folder } of workspaces) {
    const nested = join(repository, relative(checkout, folder), 'node_modules');
    if (existsSync(nested)) await linkAll(nested, join(folder, 'node_modules'));
    await mkdir(dirname(path), { recursive: true });
    await symlink(folder, path);
  }
};

const linkAll = async (from: string, to: string): Promise<void> => {
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from)) if (name !== '@tartan') await symlink(join(from, name), join(to, name));
};
