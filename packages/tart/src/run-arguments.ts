import { TartError } from './tart-error.ts';

/** A folder of the Mac that the guest sees as `/Volumes/My Shared Files/<name>`. */
export interface Share {
  readonly name: string;
  readonly path: string;
  readonly readOnly: boolean;
}

export interface RunOptions {
  /** What tart writes; appended to. The virtual machine owns it from then on: it writes without us (G14). */
  readonly logFile: string;
  readonly shares?: readonly Share[];
  /** `cached` is nearly twice as fast for disks that nobody keeps (INC-57). */
  readonly rootDiskCaching?: 'automatic' | 'cached' | 'uncached';
  /** Further options of `tart run`, each one word: `--net-softnet`. */
  readonly flags?: readonly string[];
}

/**
 * `--dir name:path[:ro]`. There is no way to escape a colon, and an option that tart does not know becomes part of the path (§7.4), so
 * paths with one are refused. Writable is what it is without a word.
 */
const shareArgument = ({ name, path, readOnly }: Share): string => {
  if (!/^[\w.-]+$/.test(name) || !path.startsWith('/') || path.includes(':'))
    throw new TartError(
      'invalid',
      `The folder ${path} cannot be shared as ${JSON.stringify(name)}: no colon may be in either`,
      {
        command: 'run',
      },
    );
  return `${name}:${path}${readOnly ? ':ro' : ''}`;
};

/** The name stands right after `run`: whoever looks for the process goes by that (§3.4). */
export const runArguments = (name: string, options: RunOptions): readonly string[] => [
  'run',
  name,
  '--no-graphics',
  ...(options.rootDiskCaching === undefined ? [] : ['--root-disk-opts', `caching=${options.rootDiskCaching}`]),
  ...(options.shares ?? []).flatMap((share) => ['--dir', shareArgument(share)]),
  ...(options.flags ?? []),
];
