import { bundle } from './bundle.ts';

/** The provider, `manager.mjs`, with the scripts that it runs on Macs. */
export const buildManager = (folder: string): Promise<string> =>
  bundle({ program: 'packages/provider/src/main.ts', folder, name: 'manager', carries: ['packages/host/scripts'] });
