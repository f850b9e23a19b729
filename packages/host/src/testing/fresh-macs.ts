import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Mac, type MacOptions, startMac } from '@tartan/sim-mac';

/** Has the effect of the step `passwordless-sudo`, for tests of later steps. */
export const grantRoot = (mac: Pick<Mac, 'path' | 'user'>): void => {
  mkdirSync(mac.path('/etc/sudoers.d'), { recursive: true });
  writeFileSync(mac.path(`/etc/sudoers.d/${mac.user.name}-nopasswd`), `${mac.user.name} ALL=(ALL) NOPASSWD: ALL\n`, {
    mode: 0o440,
  });
};

/** New Macs. `stopAll` deletes them. */
export interface FreshMacs {
  /** For artifacts. */
  readonly folder: string;
  /** `sudo`: grants root, which all steps but the first need. Default: true. */
  start(options?: Partial<MacOptions> & { sudo?: boolean }): Promise<Mac>;
  stopAll(): Promise<void>;
}

export const freshMacs = (): FreshMacs => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-steps-'));
  const macs: Mac[] = [];
  let started = 0;
  return {
    folder,
    start: async ({ sudo = true, ...options } = {}) => {
      // Counted before the start: tests may start several Macs at once.
      started += 1;
      const mac = await startMac({ folder: join(folder, `mac-${started}`), pace: 0.01, ...options });
      macs.push(mac);
      if (sudo) grantRoot(mac);
      return mac;
    },
    stopAll: async () => {
      await Promise.all(macs.map((mac) => mac.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
