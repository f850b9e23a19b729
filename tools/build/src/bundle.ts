import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { CodeSplittingOptions, Plugin } from 'rolldown';

/** The root of the checkout. */
export const checkout = join(import.meta.dirname, '../../..');

/**
 * Escapes all non-ASCII characters. V8 keeps the text of a running program in memory, with one byte per character if all fit, else with
 * two: a single typographic quotation mark would double it. Comments are already removed, and strings, templates and patterns keep their
 * meaning.
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

/** Programs read their version from the package.json of their workspace; a release overrides it. */
const versionPlugin = (program: string, version: string): Plugin => {
  const file = join(checkout, ...program.split('/').slice(0, 2), 'package.json');
  return {
    name: 'with-version',
    load: (id) => (id === file ? { code: JSON.stringify({ version }), moduleType: 'json' } : undefined),
  };
};

/** The folder beside a bundle for files, at the same paths as in the checkout. */
export const filesFolder = 'files';

/**
 * Copies files that code finds by its own path, such as the scripts for Macs, and adjusts the path in that code. Only modules of a
 * workspace with copied folders get another path than the bundle's.
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

/** The program itself among the parts. Other names end with a hash. */
const entryPart = './main.mjs';

/**
 * Each package is a part. Packages have no import cycles, so parts have none either. The program is a separate part: a part that it imports
 * must not import it.
 */
const splitByPackage = (program: string): CodeSplittingOptions => ({
  includeDependenciesRecursively: false,
  groups: [{ name: (id) => partOf(program, id), debugName: 'packages' }],
});

const partOf = (program: string, id: string): string | null => {
  const path = relative(checkout, id);
  // Modules that the bundler adds have a name that is no path.
  if (path === program || id.startsWith('\0')) return null;
  const installed = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  return (installed ?? path.split('/').slice(0, 2).join('/')).replaceAll(/[^\w-]+/g, '-');
};

/**
 * Puts all parts into the file of the program as comments, behind a loader of a few lines that hands them to Node instead of files. The
 * memory for parsing grows with the length of a text, and allocators keep it: 11 MB for the agent as one text, 2 MB for one part after the
 * other. Parts that are imported on demand, such as YAML, are not parsed before.
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

/** Every line of a part begins with `//`, so no line looks like the name of a part. */
const asComment = (name: string, text: string): string => `/*${name}*/\n//${text.replaceAll('\n', '\n//')}\n`;

// `join` makes a copy. A slice would be a view of the file, and V8 would keep the whole file in memory.
// `readParts` returns, and so drops its slices. The module itself waits for the program, and V8 keeps its variables as long.
const loader = `#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const readParts = () => {
  const parts = new Map();
  for (const part of readFileSync(import.meta.filename, 'latin1').split('\\n/*').slice(1)) {
    const [name, ...lines] = part.split('\\n//');
    parts.set(new URL(name.replace('*/', ''), import.meta.url).href, [...lines, ''].join('\\n'));
  }
  return parts;
};
const parts = readParts();
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
  /** The path from the root of the checkout, such as `packages/cli/src/main.ts`. */
  readonly program: string;
  /** The destination; created if missing. */
  readonly folder: string;
  /** The file name without its extension. */
  readonly name: string;
  /** One file, with all imports. Otherwise modules that are imported on demand are separate files beside it. */
  readonly single?: boolean;
  /** Overrides the version in the package.json of the workspace. */
  readonly version?: string;
  /** Folders of the checkout whose files the program reads: they are copied. */
  readonly copyFolders?: readonly string[];
  /** Packages that are not bundled. */
  readonly external?: readonly string[];
}

/**
 * Bundles one program: without types and unused code. Imports with computed paths are not bundled. Returns its path.
 *
 * Runs the bundler in a child process. The bundler keeps 230 MB, and a process that large takes much longer to fork.
 */
export const bundle = async (options: BundleOptions): Promise<string> => {
  const { stderr } = await promisify(execFile)(process.execPath, [import.meta.filename, JSON.stringify(options)]);
  process.stderr.write(stderr);
  return `${options.folder}/${options.name}.mjs`;
};

const bundleHere = async (options: BundleOptions): Promise<void> => {
  const { program, folder, name, single = false, version, copyFolders = [], external = [] } = options;
  const { build } = await import('rolldown');
  await build({
    cwd: checkout,
    input: { [name]: `./${program}` },
    platform: 'node',
    // Native bindings of ssh2, which works without them.
    external: [/\.node$/, ...external],
    // ssh2 refers to a Windows program in its own folder.
    transform: { define: { __dirname: 'import.meta.dirname' } },
    plugins: [
      escapeNonAscii(),
      copyFilesPlugin(copyFolders),
      ...(version === undefined ? [] : [versionPlugin(program, version)]),
      ...(single ? [singleFilePlugin()] : []),
    ],
    // A single-file program is never imported, so its parts may have other exports than the program.
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
};

if (process.argv[1] === import.meta.filename) await bundleHere(JSON.parse(process.argv[2] ?? ''));
