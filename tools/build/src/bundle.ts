import { build } from 'rolldown';
import { ascii } from './ascii.ts';
import { checkout } from './checkout.ts';
import { filesBeside } from './files-beside.ts';
import { partsInOneFile, partsOf } from './parts-in-one-file.ts';
import { withVersion } from './with-version.ts';

export interface BundleOptions {
  /** From the checkout, such as `packages/cli/src/main.ts`. */
  readonly program: string;
  /** Where it goes; made when missing. */
  readonly folder: string;
  /** Of the program in that folder, without an ending. */
  readonly name: string;
  /** One file, whatever it imports. Else what is imported only when needed is in files of its own beside it. */
  readonly single?: boolean;
  /** Instead of the one in the package.json of the program's workspace. */
  readonly version?: string;
  /** Folders of the checkout whose files the program reads: they come along. */
  readonly carries?: readonly string[];
  /** Packages that stay outside. */
  readonly without?: readonly string[];
}

/** One program as it ships: types and unused code gone. What it imports by a computed path stays outside. Answers with its path. */
export const bundle = async (options: BundleOptions): Promise<string> => {
  const { program, folder, name, single = false, version, carries = [], without = [] } = options;
  await build({
    cwd: checkout,
    input: { [name]: `./${program}` },
    platform: 'node',
    // Bindings of ssh2, which does without them when they are not there.
    external: [/\.node$/, ...without],
    // ssh2 names a program for Windows beside itself.
    transform: { define: { __dirname: 'import.meta.dirname' } },
    plugins: [
      ascii(),
      filesBeside(carries),
      ...(version === undefined ? [] : [withVersion(program, version)]),
      ...(single ? [partsInOneFile()] : []),
    ],
    // Nobody imports a program of one file, so its parts need not be as it would be imported.
    ...(single && { preserveEntrySignatures: false }),
    logLevel: 'warn',
    output: {
      dir: folder,
      format: 'esm',
      minify: true,
      entryFileNames: '[name].mjs',
      chunkFileNames: '[name]-[hash].mjs',
      codeSplitting: single ? partsOf(program) : true,
    },
  });
  return `${folder}/${name}.mjs`;
};
