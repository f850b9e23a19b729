/** Why a `tart` call failed, by what a caller can do about it. Unknown errors are `other`. */
export type TartReason =
  /** No such VM or image. */
  | 'missing'
  | 'already running'
  /** Also tart's `VM is running` on delete: it must be stopped first. */
  | 'running'
  | 'not running'
  /** The name is taken. Only this driver reports it: tart itself would replace the VM (INC-429). */
  | 'already exists'
  | 'no space'
  /** Two macOS guests are running already, or the framework has leaked slots. */
  | 'VM limit reached'
  /** No user is logged in at the console, or the login keychain is locked. */
  | 'no GUI session'
  /** The Virtualization framework refused the start without a clear cause. */
  | 'start refused'
  | 'guest agent unreachable'
  | 'registry refused'
  /** Tart or the framework rejects CPU, memory, a share or a name. */
  | 'invalid'
  /** Unparsable output. Never the same as `missing` (INC-49). */
  | 'unreadable'
  | 'timed out'
  | 'aborted'
  /** The tart executable could not be started. */
  | 'not installed'
  | 'other';

interface TartErrorDetails {
  /** The subcommand: `clone`. */
  readonly command: string;
  /** The end of tart's output, redacted. */
  readonly tail?: string;
  readonly cause?: unknown;
}

/** The only error of this package. Neither message nor tail contains a password, a token or a VNC address. */
export class TartError extends Error {
  readonly reason: TartReason;
  readonly command: string;
  readonly tail: string;
  constructor(reason: TartReason, message: string, details: TartErrorDetails) {
    super(message, { cause: details.cause });
    this.name = 'TartError';
    this.reason = reason;
    this.command = details.command;
    this.tail = details.tail ?? '';
  }
}

export const isTartError = (error: unknown, ...reasons: readonly TartReason[]): error is TartError =>
  error instanceof TartError && (reasons.length === 0 || reasons.includes(error.reason));

/** Error texts of tart, the Virtualization framework and macOS. First match wins. */
const errorPatterns: readonly (readonly [TartReason, RegExp])[] = [
  // Matches the typographic apostrophe too, which macOS writes (INC-45).
  [
    'no space',
    /isn['’]t enough space|database or disk is full|No space left on device|volume .{0,80} is out of space/i,
  ],
  ['VM limit reached', /number of VMs exceeds the system limit|VZErrorDomain Code=6\b/i],
  ['no GUI session', /VZErrorDomain Code=-9\b|Failed to create new HostKey/],
  ['guest agent unreachable', /Failed to connect to the VM using its control socket/],
  // The second text appears when the lock was lost.
  ['already running', /VM ".*" is already running!|Failed to lock auxiliary storage/],
  ['not running', /VM ".*" is not running/],
  ['running', /VM ".*" is running/],
  ['missing', /the specified VM ".*" does not exist/],
  // Framework code 2 is an invalid configuration, 5 an invalid disk image; the last two are tart's, for an image that needs another
  // macOS or processor.
  [
    'invalid',
    /LessThanMinimalResourcesError|Invalid virtual machine configuration|configuration is invalid|VZErrorDomain Code=[25]\b|host macOS version is outdated|UnsupportedArchitectureError/,
  ],
  ['registry refused', /UnexpectedHTTPStatusCode|AuthFailed|MANIFEST_UNKNOWN|UNAUTHORIZED|DENIED/],
  // All other framework errors. Code 1 is also a locked login keychain on macOS 15 and later (openai/tart #1025, #1067).
  ['start refused', /VZErrorDomain Code=/],
];

/** Only for `run`: a pull also uses the keychain, for credentials, which says nothing about the GUI session. */
const lockedKeychain = /errSecInteractionNotAllowed|keychain/i;

/** Exit code of the argument parser. */
const usageError = 64;

/**
 * The reason for an exit code and stderr. The code alone says little: 2 is three different errors, 1 is all the others, including
 * `run` of a missing VM. The text decides; 64 only if no text matches.
 */
export const classifyError = (command: string, exitCode: number | undefined, stderr: string): TartReason => {
  const found = errorPatterns.find(([, pattern]) => pattern.test(stderr));
  if (found !== undefined) return found[0];
  if (command === 'run' && lockedKeychain.test(stderr)) return 'no GUI session';
  return exitCode === usageError ? 'invalid' : 'other';
};
