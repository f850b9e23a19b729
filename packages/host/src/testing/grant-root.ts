import { mkdirSync, writeFileSync } from 'node:fs';
import type { Mac } from '@tartan/sim-mac';

/** As the step `passwordless-sudo` leaves it: for tests of what comes after. */
export const grantRoot = (mac: Pick<Mac, 'path' | 'user'>): void => {
  mkdirSync(mac.path('/etc/sudoers.d'), { recursive: true });
  writeFileSync(mac.path(`/etc/sudoers.d/${mac.user.name}-nopasswd`), `${mac.user.name} ALL=(ALL) NOPASSWD: ALL\n`, {
    mode: 0o440,
  });
};
