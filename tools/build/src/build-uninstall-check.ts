import { bundle } from './bundle.ts';

/** What says whether a release can be uninstalled, `check-uninstall.mjs`: one file that lies beside the manager. */
export const buildUninstallCheck = (folder: string): Promise<string> =>
  bundle({ program: 'packages/provider/src/uninstall/main.ts', folder, name: 'check-uninstall', single: true });
