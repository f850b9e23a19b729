import { TartError } from './tart-error.ts';

/** The name is an argument of tart: it must not look like an option or a path. */
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

/** A VM or an image. */
export const checkTarget = (command: string, name: string): void =>
  isReference(name) ? checkReference(command, name) : checkVmName(command, name);

/** A folder of the Mac, mounted in the guest as `/Volumes/My Shared Files/<name>`. */
export interface Share {
  readonly name: string;
  readonly path: string;
  readonly readOnly: boolean;
}

export interface RunOptions {
  /** Receives tart's output, appended. The tart process writes it directly, also after the agent has exited (INC-04). */
  readonly logFile: string;
  readonly shares?: readonly Share[];
}

/**
 * `--dir name:path[:ro]`. A colon cannot be escaped, and tart treats an unknown option as part of the path, so paths with a
 * colon are rejected. Writable is the default.
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

/** The name directly follows `run`: the process lookup relies on it. */
export const runArguments = (name: string, options: RunOptions): readonly string[] => [
  'run',
  name,
  '--no-graphics',
  // No write durability needed, as the disk is deleted with the VM: nearly twice as fast (tuist/tuist#11541).
  '--root-disk-opts',
  'caching=cached',
  ...(options.shares ?? []).flatMap((share) => ['--dir', shareArgument(share)]),
];
