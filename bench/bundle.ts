import { basename, join } from 'node:path';
import { build } from 'rolldown';

/**
 * One program as it ships: types and unused code gone, what is imported only when needed in files of its own beside it. What it
 * imports by a computed path stays outside. Answers its path in `folder`.
 */
export const bundle = async (program: string, folder: string): Promise<string> => {
  const name = basename(program, '.ts');
  const dir = join(folder, name);
  await build({
    input: { [name]: program },
    platform: 'node',
    // Bindings of ssh2, which does without them when they are not there.
    external: /\.node$/,
    // ssh2 names a program for Windows beside itself.
    transform: { define: { __dirname: 'import.meta.dirname' } },
    logLevel: 'warn',
    output: { dir, format: 'esm', minify: true, entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
  });
  return join(dir, `${name}.mjs`);
};
