import type { TartReason } from './tart-error.ts';

/** What a text of tart, of the Virtualization framework or of macOS stands for (tart-kubelet.md §4.4, §7). First match wins. */
const texts: readonly (readonly [TartReason, RegExp])[] = [
  // With the typographic apostrophe as well: macOS writes that one, and a search for the plain one misses it (INC-45).
  [
    'no space',
    /isn['’]t enough space|database or disk is full|No space left on device|volume .{0,80} is out of space/i,
  ],
  ['VM limit reached', /number of VMs exceeds the system limit|VZErrorDomain Code=6\b/i],
  ['no GUI session', /VZErrorDomain Code=-9\b|Failed to create new HostKey/],
  ['guest agent unreachable', /Failed to connect to the VM using its control socket/],
  // The second one is how it reads when the lock was lost (§7.4).
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

/** Wrong arguments, by the parser of them (§7.1). */
const usageError = 64;

/**
 * The reason behind an exit code and what was written to stderr. The code alone says little: 2 is three different errors, 1 is all the
 * others, `run` of a missing one among them (§7.1). The text decides; 64 only when no text does.
 */
export const classify = (command: string, exitCode: number | undefined, stderr: string): TartReason => {
  const found = texts.find(([, pattern]) => pattern.test(stderr));
  if (found !== undefined) return found[0];
  if (command === 'run' && lockedKeychain.test(stderr)) return 'no GUI session';
  return exitCode === usageError ? 'invalid' : 'other';
};
