import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileWritingTools, writerWithSpaceLimit } from './disk-space.ts';
import { passThroughTools, realTool } from './real-tools.ts';
import { shellTools, wrappedTools } from './shell-tools.ts';
import { toolStub, tracedTool } from './tool-stubs.ts';

interface BinFolderVariant {
  /** Every tool records its arguments in the journal. */
  readonly traced: boolean;
  /** The disk has limited space. */
  readonly limited: boolean;
}

/** The tools of all Macs with the same set: created once per process, as creating some hundred links for each Mac would take long. */
export interface BinFolders {
  /** A folder that is the whole PATH of a Mac. */
  bin(kind: BinFolderVariant): string;
  /** Links to the tools of the real machine. */
  readonly real: string;
}

const cache = new Map<string, BinFolders>();

const writeExecutable = (path: string, text: string): void => {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
};

const folderPrefix = (): string => join(realpathSync(tmpdir()), 'tartan-mac-userland-');

const createUserlandFolder = (): string => {
  const folder = mkdtempSync(folderPrefix());
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/**
 * Three kinds of tools: simulated in TypeScript (a link to the one stub), simulated in shell, and the real ones of this machine where macOS
 * has the same. A tool with a dot in its name is for stubs only, and not in PATH.
 */
const createBinFolders = (tools: readonly string[]): BinFolders => {
  const folder = createUserlandFolder();
  const real = join(folder, 'real');
  mkdirSync(real);
  for (const name of new Set([...passThroughTools, ...wrappedTools])) {
    const path = realTool(name);
    if (path !== undefined) symlinkSync(path, join(real, name));
  }
  const stub = join(folder, 'stub');
  writeExecutable(stub, toolStub(real));
  const inShell = shellTools(real, process.platform !== 'darwin');
  const names = [...new Set([...Object.keys(inShell), ...tools, ...passThroughTools])].filter(
    (name) => !name.includes('.'),
  );

  const fill = (bin: string, limited: boolean): void => {
    for (const name of names) {
      const path = join(bin, name);
      const text = limited && fileWritingTools.includes(name) ? writerWithSpaceLimit(real, name) : inShell[name];
      const underneath = realTool(name);
      if (text !== undefined) writeExecutable(path, text);
      else if (tools.includes(name)) symlinkSync(stub, path);
      else if (underneath !== undefined) symlinkSync(underneath, path);
    }
  };

  const fillTraced = (bin: string, untraced: string): void => {
    const wrapper = `${bin}.wrapper`;
    writeExecutable(wrapper, tracedTool(real, untraced));
    for (const name of names)
      if (tools.includes(name) || name in inShell || realTool(name)) symlinkSync(wrapper, join(bin, name));
  };

  const bins = new Map<string, string>();
  const bin = ({ traced, limited }: BinFolderVariant): string => {
    const name = `${traced ? 'traced' : 'plain'}${limited ? '-limited' : ''}`;
    const known = bins.get(name);
    if (known !== undefined) return known;
    const path = join(folder, name);
    mkdirSync(path);
    if (traced) fillTraced(path, bin({ traced: false, limited }));
    else fill(path, limited);
    bins.set(name, path);
    return path;
  };
  return { bin, real };
};

export const binFoldersFor = (tools: readonly string[]): BinFolders => {
  const key = tools.toSorted().join(' ');
  const userland = cache.get(key) ?? createBinFolders(tools);
  cache.set(key, userland);
  return userland;
};

/** Removes the tools of a killed process, to which `link` of its Mac points. */
export const removeBinFolders = (link: string): void => {
  try {
    const folder = dirname(readlinkSync(link));
    if (folder.startsWith(folderPrefix())) rmSync(folder, { recursive: true, force: true });
  } catch {
    // There are none.
  }
};
