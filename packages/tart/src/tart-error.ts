/** Why a call of `tart` failed, as far as a caller can act on it. Closed: a text nobody knows is `other`. */
export type TartReason =
  /** No such virtual machine or image. */
  | 'missing'
  | 'already running'
  /** Also tart's `VM is running` for a delete: something needs it stopped. */
  | 'running'
  | 'not running'
  /** The name is taken. Only this driver says so: tart itself would replace what has the name (INC-429). */
  | 'already exists'
  | 'no space'
  /** Two macOS guests are on already, or the framework has lost slots. */
  | 'VM limit reached'
  /** Nobody is logged in at the console, or its keychain is locked. */
  | 'no GUI session'
  /** The Virtualization framework did not start it, and does not say whose fault that is. */
  | 'start refused'
  | 'guest agent unreachable'
  | 'registry refused'
  /** CPU, memory, a share or a name that tart or the framework does not take. */
  | 'invalid'
  /** An answer that cannot be understood. Never the same as `missing` (INC-49). */
  | 'unreadable'
  | 'timed out'
  | 'aborted'
  /** The program could not be started at all. */
  | 'not installed'
  | 'other';

interface TartErrorDetails {
  /** The subcommand: `clone`. */
  readonly command: string;
  /** The end of what tart wrote, without secrets. */
  readonly tail?: string;
  readonly cause?: unknown;
}

/** The one error of this package. Neither its text nor its tail holds a password, a token or a VNC address. */
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

/** What a text of tart, of the Virtualization framework or of macOS stands for. First match wins. */
const errorPatterns: readonly (readonly [TartReason, RegExp])[] = [
  // With the typographic apostrophe as well: macOS writes that one, and a search for the plain one misses it (INC-45).
  [
    'no space',
    /isn['’]t enough space|database or disk is full|No space left on device|volume .{0,80} is out of space/i,
  ],
  ['VM limit reached', /number of VMs exceeds the system limit|VZErrorDomain Code=6\b/i],
  ['no GUI session', /VZErrorDomain Code=-9\b|Failed to create new HostKey/],
  ['guest agent unreachable', /Failed to connect to the VM using its control socket/],
  // The second one is how it reads when the lock was lost.
  ['already running', /VM ".*" is already running!|Failed to lock auxiliary storage/],
  ['not running', /VM ".*" is not running/],
  ['running', /VM ".*" is running/],
  ['missing', /the specified VM ".*" does not exist/],
  // Of the framework's codes 2 is an invalid configuration and 5 an invalid disk image; the last two are tart's, of an image for another
  // macOS or processor.
  [
    'invalid',
    /LessThanMinimalResourcesError|Invalid virtual machine configuration|configuration is invalid|VZErrorDomain Code=[25]\b|host macOS version is outdated|UnsupportedArchitectureError/,
  ],
  ['registry refused', /UnexpectedHTTPStatusCode|AuthFailed|MANIFEST_UNKNOWN|UNAUTHORIZED|DENIED/],
  // All other errors of the framework. Code 1 is also that of a locked login keychain on macOS 15 and later (openai/tart #1025, #1067).
  ['start refused', /VZErrorDomain Code=/],
];

/** Only where a virtual machine starts: a pull asks the keychain too, for a password, and that says nothing of the session. */
const lockedKeychain = /errSecInteractionNotAllowed|keychain/i;

/** Wrong arguments, by the parser of them. */
const usageError = 64;

/**
 * The reason behind an exit code and what was written to stderr. The code alone says little: 2 is three different errors, 1 is all the
 * others, `run` of a missing one among them. The text decides; 64 only when no text does.
 */
export const classifyError = (command: string, exitCode: number | undefined, stderr: string): TartReason => {
  const found = errorPatterns.find(([, pattern]) => pattern.test(stderr));
  if (found !== undefined) return found[0];
  if (command === 'run' && lockedKeychain.test(stderr)) return 'no GUI session';
  return exitCode === usageError ? 'invalid' : 'other';
};
