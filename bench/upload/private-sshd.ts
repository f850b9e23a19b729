import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@tartan/sim-fleet';

/** A private OpenSSH server: loopback only, a free port, its own keys, everything in one folder. */
export interface PrivateSshd {
  readonly port: number;
  readonly user: string;
  /** File of the authorized key. */
  readonly keyFile: string;
  stop(): Promise<void>;
}

const places = ['/usr/sbin/sshd', '/usr/local/sbin/sshd', '/opt/homebrew/sbin/sshd'];

/** sshd needs this folder when root starts it; the package creates it at boot. */
const privilegeSeparation = '/run/sshd';

const newKey = (file: string): void => {
  const { status } = spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'bench', '-f', file]);
  if (status !== 0) throw new Error('ssh-keygen made no key: install openssh-client');
};

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

export const startPrivateSshd = async (folder: string): Promise<PrivateSshd> => {
  const program = places.find((place) => existsSync(place));
  if (program === undefined) throw new Error('there is no sshd on this machine: install openssh-server');
  if (process.getuid?.() === 0 && process.platform === 'linux') mkdirSync(privilegeSeparation, { recursive: true });
  const keyFile = join(folder, 'user-key');
  newKey(keyFile);
  newKey(join(folder, 'host-key'));
  copyFileSync(`${keyFile}.pub`, join(folder, 'authorized_keys'));
  const port = await freePort();
  writeFileSync(
    join(folder, 'sshd_config'),
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${join(folder, 'host-key')}`,
      `AuthorizedKeysFile ${join(folder, 'authorized_keys')}`,
      'PidFile none',
      'UsePAM no',
      'StrictModes no',
      'PasswordAuthentication no',
      // Sixteen clients log in at the same time.
      'MaxStartups 100',
      '',
    ].join('\n'),
  );
  let said = '';
  const sshd: ChildProcess = spawn(program, ['-D', '-e', '-f', join(folder, 'sshd_config')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  sshd.stderr?.on('data', (text: Buffer) => {
    said = `${said}${text.toString()}`.slice(-4_000);
  });
  while (!(await listens(port))) {
    if (sshd.exitCode !== null) throw new Error(`sshd did not start:\n${said}`);
    await sleep(20);
  }
  return {
    port,
    user: userInfo().username,
    keyFile,
    stop: async () => {
      if (sshd.exitCode !== null) return;
      sshd.kill();
      await once(sshd, 'close');
    },
  };
};
