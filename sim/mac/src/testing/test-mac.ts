import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Mac, MacOptions } from '../mac.ts';
import { startMac } from '../start-mac.ts';

/** A Mac that is stopped and deleted when the test is over. */
export const startTestMac = async (t: Pick<TestContext, 'after'>, options: Partial<MacOptions> = {}): Promise<Mac> => {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'tartan-mac-'));
  const mac = await startMac({ ...options, folder });
  t.after(async () => {
    await mac.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return mac;
};

/** Lets the user become root without a password. */
export const allowSudo = async (mac: Mac): Promise<void> => {
  const file = '"$TARTAN_ROOT/etc/sudoers.d/m1-nopasswd"';
  await mac.run(`printf 'm1 ALL=(ALL) NOPASSWD: ALL\\n' >${file} && chmod 440 ${file}`);
};

/** The journal entries of one kind. */
export const journalDetails = (mac: Mac, what: string): string[] =>
  mac.journal.entries.filter((entry) => entry.what === what).map(({ detail }) => detail);
