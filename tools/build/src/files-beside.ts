import { cp } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Plugin } from 'rolldown';
import { checkout } from './checkout.ts';

/** Where files lie beside a bundle, each at the place it has in the checkout. */
export const filesFolder = 'files';

/**
 * Files that code reads by its own place, such as the scripts for Macs: they are carried along, and the code looks for them there. Only
 * modules in a workspace that something is carried from are told another place than the bundle's.
 */
export const filesBeside = (carried: readonly string[]): Plugin => ({
  name: 'files-beside',
  transform: {
    filter: { code: /import\.meta\.(dirname|url)/ },
    handler: (code, id) => {
      const place = relative(checkout, dirname(id));
      if (!carried.some((folder) => workspaceOf(folder) === workspaceOf(place))) return undefined;
      return code
        .replaceAll('import.meta.dirname', `(import.meta.dirname + ${JSON.stringify(`/${filesFolder}/${place}`)})`)
        .replaceAll('import.meta.url', `new URL(${JSON.stringify(`${filesFolder}/${place}/`)}, import.meta.url)`);
    },
  },
  writeBundle: async ({ dir = '.' }) => {
    for (const folder of carried) await cp(join(checkout, folder), join(dir, filesFolder, folder), { recursive: true });
  },
});

const workspaceOf = (path: string): string => path.split('/').slice(0, 2).join('/');
