import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * A package to compare with. Peers are not dependencies of the project: the first benchmark that needs one installs it into the cache
 * folder, in exactly that version. Returns the folder of the package.
 */
export const peer = (name: string, version: string, say: (line: string) => void): string => {
  const cache =
    process.env['TARTAN_CACHE'] ?? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tartan');
  const folder = join(cache, 'peers', `${name.replace('/', '-')}-${version}`);
  const installed = join(folder, 'node_modules', name);
  if (existsSync(join(folder, 'installed'))) return installed;
  say(`installing ${name} ${version} to compare with`);
  mkdirSync(folder, { recursive: true });
  const args = ['install', '--no-audit', '--no-fund', '--prefix', folder, `${name}@${version}`];
  const { status, stderr } = spawnSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] });
  if (status !== 0) throw new Error(`npm could not install ${name}@${version}:\n${stderr}`);
  mkdirSync(join(folder, 'installed'));
  return installed;
};
