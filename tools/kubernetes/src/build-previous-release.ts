import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { cacheFolder, exists, fillOnce } from './build/cache.ts';
import { previousRelease, unpackPreviousRelease } from './previous-release.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

export interface BuiltRelease {
  /** Its chart. */
  readonly chart: string;
  /** Its programs, as `npm run build` leaves them in `dist/`. */
  readonly programs: string;
}

/** The previous release, built by its own tools: once, and kept in the cache folder by its commit. */
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

interface Locked {
  readonly link?: boolean;
  readonly resolved?: string;
}

const locked = async (checkout: string): Promise<[path: string, locked: Locked][]> => {
  const { packages }: { packages: Record<string, Locked> } = JSON.parse(
    await readFile(join(checkout, 'package-lock.json'), 'utf8'),
  );
  return Object.entries(packages).filter(([path]) => path.includes('node_modules/'));
};

/** From this checkout where both lock the same packages, else from the registry. Workspaces are always its own. */
const installPackages = async (checkout: string): Promise<void> => {
  const [theirs, ours] = [await locked(checkout), await locked(root)];
  const others = (all: typeof theirs) => all.filter(([, { link }]) => link !== true);
  if (!isDeepStrictEqual(others(theirs), others(ours))) {
    await run('npm', ['ci', '--ignore-scripts'], { cwd: checkout });
    return;
  }
  const workspaces = theirs.flatMap(([path, { link, resolved }]) =>
    link === true && resolved !== undefined ? [{ path: join(checkout, path), folder: join(checkout, resolved) }] : [],
  );
  await linkAll(join(root, 'node_modules'), join(checkout, 'node_modules'));
  for (const { path, folder } of workspaces) {
    const nested = join(root, relative(checkout, folder), 'node_modules');
    if (exists(nested)) await linkAll(nested, join(folder, 'node_modules'));
    await mkdir(dirname(path), { recursive: true });
    await symlink(folder, path);
  }
};

const linkAll = async (from: string, to: string): Promise<void> => {
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from)) if (name !== '@tartan') await symlink(join(from, name), join(to, name));
};
