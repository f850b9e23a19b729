import type { HostSecrets } from '../spec/host-spec.ts';

/**
 * With this code a script ends when the Mac refused the password that it was given. The same password must not be sent again: several
 * wrong ones lock the account, and every further one keeps it locked (I-07, I-09). The Mac refuses to try it twice, too.
 */
export const wrongPasswordExit = 77;

/**
 * The password, when there is one to try. Scaleway's API answers `<sealed>` where it has none (I-07), and an empty one would break
 * auto-login (I-04, I-10): both count as absent.
 */
export const passwordToTry = ({ userPassword }: HostSecrets): string | undefined => {
  if (userPassword === undefined || userPassword === '' || userPassword === '<sealed>') return undefined;
  if (/[\0\r\n]/.test(userPassword)) {
    throw new TypeError("The user's password holds a line break or a NUL, which no Mac takes: store it without.");
  }
  return userPassword;
};

const shortName = /^[A-Za-z_][A-Za-z0-9._-]*$/;

/** The short name of an account: what sudoers, loginwindow and paths can take as it is. */
export const accountName = (user: string): string => {
  if (!shortName.test(user)) {
    throw new TypeError(
      `${JSON.stringify(user)} is no short name of a Mac's account: letters, digits, dots, dashes and underscores only.`,
    );
  }
  return user;
};
