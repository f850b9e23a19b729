import { join } from 'node:path';
import type { Plugin } from 'rolldown';
import { checkout } from './checkout.ts';

/** Programs take their version from the package.json of their workspace; a release knows better. */
export const withVersion = (program: string, version: string): Plugin => {
  const file = join(checkout, ...program.split('/').slice(0, 2), 'package.json');
  return {
    name: 'with-version',
    load: (id) => (id === file ? { code: JSON.stringify({ version }), moduleType: 'json' } : undefined),
  };
};
