import type { Preparation } from '../spec/host-spec.ts';
import type { Step } from './step.ts';
import { accountName, passwordToTry } from './user-password.ts';

interface Intent {
  readonly user: string;
}

/**
 * First of all: every other step needs root. One attempt per run at most, none without a password, and none with one that was refused
 * since the Mac started: see `wrongPasswordExit`.
 */
export const passwordlessSudo: Step<Intent, Preparation> = {
  name: 'passwordless-sudo',
  title: 'let the user become root without a password',
  unprivileged: true,
  deadline: 60_000,
  intent: ({ user }) => ({ user }),
  environment: ({ user }) => ({
    LOGIN_USER: accountName(user),
    // sudo passes over files whose name has a dot in it, and says nothing (bootstrap.md 4.7).
    RULE_NAME: `${accountName(user).replaceAll('.', '_')}-nopasswd`,
  }),
  payload: (_, secrets) => {
    const password = passwordToTry(secrets);
    // Without the line's end the right password is refused (I-13).
    return password === undefined ? undefined : `${password}\n`;
  },
};
