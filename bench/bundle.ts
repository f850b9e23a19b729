import { basename, join } from 'node:path';
import { build } from 'rolldown';

/** One program as it ships: a single file, types and unused code gone. What it imports by a computed path stays outside. Answers its path in `folder`. */
export const bundle = async (program: string, folder: string): Promise<string> => {
  const file = join(folder, `${basename(program, '.ts')}.mjs`);
  await build({
    input: program,
    platform: 'node',
    logLevel: 'warn',
    output: { file, format: 'esm', minify: true, codeSplitting: false },
  });
  return file;
};
