#!/usr/bin/env node
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startMac } from './start-mac.ts';

/** `npm run mac`: one simulated Mac on this machine, to try things on. Runs until Ctrl-C, then deletes the Mac. */

const usage = `usage: npm run mac -- [options]

Starts a simulated Mac mini, fresh from the factory, and says how to reach it.

  --port PORT              of its sshd on 127.0.0.1 (default: a free one)
  --password WORD          of its user m1 (default: mac)
  --key FILE               public SSH key that may log in (default: the first of ~/.ssh/id_*.pub)
  --loginwindow STATE      normal, dead, or forbidden: launchd may not restart it
  --no-gui-session         nobody gets a console session, whatever the password
  --pace NUMBER            1 is as slow as a real Mac (default: 0.05)
`;

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    password: { type: 'string', default: 'mac' },
    key: { type: 'string' },
    loginwindow: { type: 'string', default: 'normal' },
    'no-gui-session': { type: 'boolean', default: false },
    pace: { type: 'string', default: '0.05' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}

const publicKey = async (): Promise<string> => {
  const usual = ['id_ed25519.pub', 'id_ecdsa.pub', 'id_rsa.pub'].map((name) => join(homedir(), '.ssh', name));
  for (const file of values.key === undefined ? usual : [values.key]) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) return text.trim();
  }
  process.stderr.write(`There is no public SSH key at ${values.key ?? '~/.ssh'}. Name one with --key FILE.\n`);
  process.exit(2);
};

const loginwindow = (['normal', 'dead', 'forbidden'] as const).find((state) => state === values.loginwindow);
if (loginwindow === undefined) {
  process.stderr.write(`${values.loginwindow} is no state of loginwindow.\n\n${usage}`);
  process.exit(2);
}

const key = await publicKey();
const folder = await mkdtemp(join(tmpdir(), 'tartan-mac-'));
const mac = await startMac({
  folder,
  pace: Number(values.pace),
  port: Number(values.port),
  user: { password: values.password },
  authorizedKeys: [key],
});
mac.faults.loginwindow = loginwindow;
mac.faults.noGuiSession = values['no-gui-session'];
process.stdout.write(`A Mac is up. Its disk is ${mac.root}, its host key ${mac.hostKey()}.

  ssh -p ${mac.address.port} ${mac.user.name}@${mac.address.host} launchctl list
  npm run tartan -- prepare-host ${mac.address.host} --port ${mac.address.port}
  npm run tartan -- doctor ${mac.address.host} --port ${mac.address.port}

Ctrl-C stops it and removes it.
`);
await new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
});
await mac.stop();
await rm(folder, { recursive: true, force: true });
