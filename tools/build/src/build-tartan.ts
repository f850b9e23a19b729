import { chmod, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { anyVersion } from './any-version.ts';
import { buildAgent } from './build-agent.ts';
import { buildManager } from './build-manager.ts';
import { buildRunners } from './build-runners.ts';
import { bundle } from './bundle.ts';
import { filesFolder } from './files-beside.ts';

/**
 * The command line, `tartan.mjs`, with all that `tartan up` starts: the manager, the runners controller and the agent for its simulated Macs
 * come along, since there is nothing to build them from where this runs.
 */
export const buildTartan = async (folder: string): Promise<string> => {
  const program = await bundle({
    program: 'packages/cli/src/main.ts',
    folder,
    name: 'tartan',
    carries: ['packages/host/scripts', 'sim/mac/src/tart/script'],
    without: ['@tartan/tools-build', '@tartan/tools-kubernetes'],
  });
  await chmod(program, 0o755);
  // An executable of this name on the PATH is `kubectl tartan`.
  await symlink('tartan.mjs', join(folder, 'kubectl-tartan'));
  await buildManager(join(folder, filesFolder, 'manager'));
  await buildRunners(join(folder, filesFolder));
  await buildAgent(join(folder, filesFolder), { version: anyVersion });
  return program;
};
