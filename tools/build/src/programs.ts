import { chmod, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { placeholderVersion } from './any-version.ts';
import { bundle, filesFolder } from './bundle.ts';

/** A rollout sends it to every Mac (architecture: one bundled file below 1 MB instead of a binary of 47 MB). */
export const maxAgentBytes = 1_000_000;

/** The agent as one file, `tart-kubelet.mjs`, as it is pushed to Macs. Rejects when it is too large. */
export const buildAgent = async (
  folder: string,
  { version, most = maxAgentBytes }: { readonly version?: string; readonly most?: number } = {},
): Promise<string> => {
  const file = await bundle({
    program: 'packages/tart-kubelet/src/main.ts',
    folder,
    name: 'tart-kubelet',
    single: true,
    ...(version !== undefined && { version }),
  });
  const { size } = await stat(file);
  if (size > most)
    throw new Error(
      `${file} has ${size} bytes, and ${most} is the most that a roll should send to every Mac. See what it imports.`,
    );
  return file;
};

/** The provider, `manager.mjs`, with the scripts that it runs on Macs. */
export const buildManager = (folder: string): Promise<string> =>
  bundle({ program: 'packages/provider/src/main.ts', folder, name: 'manager', copyFolders: ['packages/host/scripts'] });

/** The provider with played hosts, `played-hosts.mjs`, for `tartan up --hosts played`. */
export const buildPlayedHosts = (folder: string): Promise<string> =>
  bundle({
    program: 'sim/fleet/src/played-hosts/main.ts',
    folder,
    name: 'played-hosts',
    copyFolders: ['packages/host/scripts'],
  });

/** The installer of custom resource definitions, `install-crds.mjs`: one file beside the manager. */
export const buildInstaller = (folder: string): Promise<string> =>
  bundle({ program: 'packages/provider/src/crds/main.ts', folder, name: 'install-crds', single: true });

/** The check whether a release can be uninstalled, `check-uninstall.mjs`: one file beside the manager. */
export const buildUninstallCheck = (folder: string): Promise<string> =>
  bundle({ program: 'packages/provider/src/uninstall/main.ts', folder, name: 'check-uninstall', single: true });

/** The runners controller as one file, `runners.mjs`. */
export const buildRunners = (folder: string): Promise<string> =>
  bundle({ program: 'packages/runners/src/main.ts', folder, name: 'runners', single: true });

/**
 * The command line, `tartan.mjs`, with everything that `tartan up` starts: the manager, the runners controller and the agent for its
 * simulated Macs, which cannot be built outside of a checkout.
 */
export const buildTartan = async (folder: string): Promise<string> => {
  const program = await bundle({
    program: 'packages/cli/src/main.ts',
    folder,
    name: 'tartan',
    copyFolders: ['packages/host/scripts', 'sim/mac/src/tart/script'],
    external: ['@tartan/tools-build', '@tartan/tools-kubernetes'],
  });
  await chmod(program, 0o755);
  // An executable of this name on the PATH is `kubectl tartan`.
  await symlink('tartan.mjs', join(folder, 'kubectl-tartan'));
  await buildManager(join(folder, filesFolder, 'manager'));
  await buildPlayedHosts(join(folder, filesFolder, 'played-hosts'));
  await buildRunners(join(folder, filesFolder));
  await buildAgent(join(folder, filesFolder), { version: placeholderVersion });
  return program;
};
