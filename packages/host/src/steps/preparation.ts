import type { HostSecrets, Preparation } from '../host-spec.ts';
import type { Step } from './step.ts';

/**
 * A script exits with this code when the Mac refused the password. The same password must not be sent again: several wrong ones lock the
 * account, and every further one keeps it locked (INC-207). The script on the Mac also refuses to try it twice.
 */
export const wrongPasswordExitCode = 77;

/**
 * The password, if there is one to try. Scaleway's API answers `<sealed>` when it has none (INC-207), and an empty one would break
 * auto-login (INC-204): both count as absent.
 */
export const usablePassword = ({ userPassword }: HostSecrets): string | undefined => {
  if (userPassword === undefined || userPassword === '' || userPassword === '<sealed>') return undefined;
  if (/[\0\r\n]/.test(userPassword)) {
    throw new TypeError("The user's password holds a line break or a NUL, which no Mac takes: store it without.");
  }
  return userPassword;
};

const shortName = /^[A-Za-z_][A-Za-z0-9._-]*$/;

/** The short name of an account, safe in sudoers, loginwindow preferences and paths. */
export const validAccountName = (user: string): string => {
  if (!shortName.test(user)) {
    throw new TypeError(
      `${JSON.stringify(user)} is no short name of a Mac's account: letters, digits, dots, dashes and underscores only.`,
    );
  }
  return user;
};

/** The well-known key with which macOS obfuscates the password in `/etc/kcpassword`. */
const kcpasswordKey = Buffer.from('7d895223d2bcddeaa3b91f', 'hex');

/**
 * A password in the format of `/etc/kcpassword`: padded with NUL to the next multiple of the key's eleven bytes, by at least one byte,
 * then XORed with the repeated key. Reversible, so it is a secret too.
 */
export const kcpassword = (password: string): Buffer => {
  const clear = Buffer.from(password);
  const padded = Buffer.alloc((Math.floor(clear.length / kcpasswordKey.length) + 1) * kcpasswordKey.length);
  clear.copy(padded);
  return Buffer.from(padded.map((byte, index) => byte ^ (kcpasswordKey[index % kcpasswordKey.length] ?? 0)));
};

/**
 * The first step: every other step needs root. At most one attempt per run, none without a password, and none with a password that was
 * refused since the last boot: see `wrongPasswordExitCode`.
 */
export const passwordlessSudo: Step<Preparation, Preparation> = {
  name: 'passwordless-sudo',
  title: 'let the user become root without a password',
  unprivileged: true,
  deadline: 60_000,
  intent: ({ user }) => ({ user }),
  environment: ({ user }) => ({
    LOGIN_USER: validAccountName(user),
    // sudo ignores files whose name contains a dot.
    RULE_NAME: `${validAccountName(user).replaceAll('.', '_')}-nopasswd`,
  }),
  payload: (_, secrets) => {
    const password = usablePassword(secrets);
    // Without the newline sudo refuses the right password.
    return password === undefined ? undefined : `${password}\n`;
  },
};

/**
 * Disables everything that could put the Mac to sleep, lock its screen, log its user out or restart it: each ends the console session and
 * all virtual machines. Runs early, because an idle mini sleeps after one minute (INC-06).
 */
export const power: Step<object, Preparation> = {
  name: 'power',
  title: 'keep the Mac awake, logged in and on its version of macOS',
  deadline: 60_000,
  intent: () => ({}),
  environment: () => ({}),
};

/**
 * A console session of the user, now and after each boot: without one macOS starts no virtual machine (INC-03, INC-202).
 * Only on an idle host, because restarting loginwindow ends the session and everything in it.
 */
export const autoLogin: Step<Preparation, Preparation> = {
  name: 'auto-login',
  title: 'log the user in at the console',
  needsIdle: true,
  // 30 checks a second apart, plus time for a slow launchd.
  deadline: 120_000,
  intent: ({ user }) => ({ user }),
  environment: ({ user }) => ({ LOGIN_USER: validAccountName(user) }),
  payload: (_, secrets) => {
    const password = usablePassword(secrets);
    return password === undefined ? undefined : `${kcpassword(password).toString('base64')}\n`;
  },
};
