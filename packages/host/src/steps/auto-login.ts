import { kcpassword } from './kcpassword.ts';
import type { Preparation } from '../spec/host-spec.ts';
import type { Step } from './step.ts';
import { accountName, passwordToTry } from './user-password.ts';

interface Intent {
  readonly user: string;
}

/**
 * A live console session of the user, now and after each boot: without one macOS starts no virtual machine (I-01, I-02).
 * A restart of loginwindow ends the session, and what runs in it: hence only on an idle host.
 */
export const autoLogin: Step<Intent, Preparation> = {
  name: 'auto-login',
  title: 'log the user in at the console',
  needsIdle: true,
  // 30 looks a second apart, and a slow launchd on top.
  deadline: 120_000,
  intent: ({ user }) => ({ user }),
  environment: ({ user }) => ({ LOGIN_USER: accountName(user) }),
  payload: (_, secrets) => {
    const password = passwordToTry(secrets);
    return password === undefined ? undefined : `${kcpassword(password).toString('base64')}\n`;
  },
};
