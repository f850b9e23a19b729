import { bundle } from './bundle.ts';

/** What brings custom resource definitions up to date, `install-crds.mjs`: one file that lies beside the manager. */
export const buildInstaller = (folder: string): Promise<string> =>
  bundle({ program: 'packages/provider/src/crds/main.ts', folder, name: 'install-crds', single: true });
