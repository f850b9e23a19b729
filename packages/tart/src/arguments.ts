import { TartError } from './tart-error.ts';

/** A name reaches tart as an argument: it must not read as an option or as a path. */
export const checkVmName = (command: string, name: string): void => {
  if (!/^[A-Za-z0-9_.][A-Za-z0-9_.:@-]*$/.test(name) || name === '.' || name === '..')
    throw new TartError(
      'invalid',
      `${JSON.stringify(name)} is no name for a virtual machine: use letters, digits, dots, dashes and underscores`,
      { command },
    );
};

/** `host/namespace:tag` or `host/namespace@sha256:…`. */
export const checkReference = (command: string, reference: string): void => {
  if (!/^[A-Za-z0-9][\w.:-]*(\/[\w.-]+)+(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$/.test(reference))
    throw new TartError(
      'invalid',
      `${JSON.stringify(reference)} is no image: write host/name:tag or host/name@sha256:digest`,
      { command },
    );
};

export const isReference = (name: string): boolean => name.includes('/');

/** A virtual machine or an image. */
export const checkTarget = (command: string, name: string): void =>
  isReference(name) ? checkReference(command, name) : checkVmName(command, name);

/** A folder of the Mac that the guest sees as `/Volumes/My Shared Files/<name>`. */
export interface Share {
  readonly name: string;
  readonly path: string;
  readonly readOnly: boolean;
}

export interface RunOptions {
  /** What tart writes; appended to. The virtual machine owns it from then on: it writes without us (INC-04). */
  readonly logFile: string;
  readonly shares?: readonly Share[];
}

/**
 * `--dir name:path[:ro]`. There is no way to escape a colon, and an option that tart does not know becomes part of the path, so
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

/** The name stands right after `run`: whoever looks for the process goes by that. */
export const runArguments = (name: string, options: RunOptions): readonly string[] => [
  'run',
  name,
  '--no-graphics',
  // The disk is deleted with the VM: nearly twice as fast (tuist/tuist#11541).
  '--root-disk-opts',
  'caching=cached',
  ...(options.shares ?? []).flatMap((share) => ['--dir', shareArgument(share)]),
];
