import { cp } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { build, type CodeSplittingOptions, type Plugin } from 'rolldown';

/** The folder of the checkout, which everything that is built comes from. */
export const checkout = join(import.meta.dirname, '../../..');

/**
 * Writes every other character as its escape. V8 keeps the text of a program as long as the program runs, with one byte for a character
 * if all of them have one, else with two: a single quotation mark would cost the whole text once more. Comments are gone by then, and
 * strings, templates and patterns mean the same.
 */
const escapeNonAscii = (): Plugin => ({
  name: 'ascii',
  generateBundle: (_, files) => {
    for (const file of Object.values(files))
      if (file.type === 'chunk')
        file.code = file.code.replaceAll(
          /[^\0-\x7f]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
  },
});

/** Programs take their version from the package.json of their workspace; a release knows better. */
const versionPlugin = (program: string, version: string): Plugin => {
  const file = join(checkout, ...program.split('/').slice(0, 2), 'package.json');
  return {
    name: 'with-version',
    load: (id) => (id === file ? { code: JSON.stringify({ version }), moduleType: 'json' } : undefined),
  };
};

/** Where files lie beside a bundle, each at the place it has in the checkout. */
export const filesFolder = 'files';

/**
 * Files that code reads by its own place, such as the scripts for Macs: they are carried along, and the code looks for them there. Only
 * modules in a workspace that something is carried from are told another place than the bundle's.
 */
const copyFilesPlugin = (carried: readonly string[]): Plugin => ({
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

/** The program itself among the parts. No other has this name: theirs end with a hash. */
const entryPart = './main.mjs';

/**
 * Each package is a part. Packages do not import in circles, so parts do not either. The program is a part of its own: what it waits for
 * must not wait for it.
 */
const splitByPackage = (program: string): CodeSplittingOptions => ({
  includeDependenciesRecursively: false,
  groups: [{ name: (id) => partOf(program, id), debugName: 'packages' }],
});

const partOf = (program: string, id: string): string | null => {
  const path = relative(checkout, id);
  // What the bundler adds has a name that is no path.
  if (path === program || id.startsWith('\0')) return null;
  const installed = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  return (installed ?? path.split('/').slice(0, 2).join('/')).replaceAll(/[^\w-]+/g, '-');
};

/**
 * Puts all parts into the file of the program, behind a few lines that give them to Node where it would read a file beside it. To Node they
 * are comments until then. What it takes to parse a text grows with its length, and allocators keep it: 11 MB for the agent as one text, 2 MB
 * for one part after the other. And a part that is imported only when needed, such as YAML, is not parsed before.
 */
const singleFilePlugin = (): Plugin => ({
  name: 'parts-in-one-file',
  generateBundle: (_, files) => {
    const chunks = Object.values(files).filter((file) => file.type === 'chunk');
    const parts = chunks.map(({ isEntry, fileName, code }) => asComment(isEntry ? entryPart : `./${fileName}`, code));
    for (const chunk of chunks)
      if (chunk.isEntry) chunk.code = `${loader}${parts.join('')}`;
      else delete files[chunk.fileName];
  },
});

/** No line of a part begins as its name does, whatever is in it. */
const asComment = (name: string, text: string): string => `/*${name}*/\n//${text.replaceAll('\n', '\n//')}\n`;

// A text that is joined is a copy. Else it would be a view of the file, and V8 would keep all of that.
const loader = `#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const parts = new Map();
for (const part of readFileSync(import.meta.filename, 'latin1').split('\\n/*').slice(1)) {
  const [name, ...lines] = part.split('\\n//');
  parts.set(new URL(name.replace('*/', ''), import.meta.url).href, [...lines, ''].join('\\n'));
}
registerHooks({
  resolve: (name, context, next) => {
    const url = URL.parse(name, context.parentURL)?.href;
    return parts.has(url) ? { url, shortCircuit: true } : next(name, context);
  },
  load: (url, context, next) =>
    parts.has(url) ? { source: parts.get(url), format: 'module', shortCircuit: true } : next(url, context),
});
await import('${entryPart}');
`;

interface BundleOptions {
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
  readonly copyFolders?: readonly string[];
  /** Packages that stay outside. */
  readonly external?: readonly string[];
}

/** One program as it ships: types and unused code gone. What it imports by a computed path stays outside. Answers with its path. */
export const bundle = async (options: BundleOptions): Promise<string> => {
  const { program, folder, name, single = false, version, copyFolders = [], external = [] } = options;
  await build({
    cwd: checkout,
    input: { [name]: `./${program}` },
    platform: 'node',
    // Bindings of ssh2, which does without them when they are not there.
    external: [/\.node$/, ...external],
    // ssh2 names a program for Windows beside itself.
    transform: { define: { __dirname: 'import.meta.dirname' } },
    plugins: [
      escapeNonAscii(),
      copyFilesPlugin(copyFolders),
      ...(version === undefined ? [] : [versionPlugin(program, version)]),
      ...(single ? [singleFilePlugin()] : []),
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
      codeSplitting: single ? splitByPackage(program) : true,
    },
  });
  return `${folder}/${name}.mjs`;
};
