import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import ssh2, { type ClientChannel } from 'ssh2';
import type { Mac } from '../mac.ts';

export interface SshClient {
  /** `SHA256:…` of the host key. */
  readonly hostKey: string;
  open(command: string): Promise<ClientChannel>;
  run(
    command: string,
    stdin?: string | Buffer,
  ): Promise<{ code?: number; signal?: string; stdout: string; stderr: string }>;
  /** Resolves when the connection is gone, from either side. */
  readonly closed: Promise<void>;
  end(): Promise<void>;
}

export interface KeyPair {
  readonly public: string;
  readonly private: string;
}

/** ssh2 1.17 cannot parse one in 300 of the keys that it generates. */
export const newKey = (): KeyPair => {
  const made = ssh2.utils.generateKeyPairSync('ed25519');
  return ssh2.utils.parseKey(made.private) instanceof Error ? newKey() : made;
};

/** Logs in as the user of a Mac, or rejects with the error. `before` are keys to offer first, as an SSH agent does. */
export const logIn = (
  mac: Pick<Mac, 'address' | 'user'>,
  key: KeyPair,
  username = mac.user.name,
  before: readonly KeyPair[] = [],
): Promise<SshClient> =>
  new Promise((resolve, reject) => {
    const client = new ssh2.Client();
    let hostKey = '';
    const closed = new Promise<void>((done) => client.once('close', () => done()));
    client.on('error', reject);
    void closed.then(() => reject(new Error('the connection was closed')));
    const open = (command: string): Promise<ClientChannel> =>
      new Promise((opened, failed) => {
        client.exec(command, (error, channel) => (error ? failed(error) : opened(channel)));
      });
    client.once('ready', () =>
      resolve({
        hostKey,
        open,
        closed,
        run: async (command, stdin = '') => {
          const channel = await open(command);
          const ended = new Promise<{ code?: number; signal?: string }>((done) => {
            channel.once('exit', (code: number | null, signal?: string) =>
              done({ ...(code === null ? {} : { code }), ...(signal === undefined ? {} : { signal }) }),
            );
            channel.once('close', () => done({}));
          });
          channel.end(stdin);
          const [stdout, stderr, how] = await Promise.all([buffer(channel), buffer(channel.stderr), ended]);
          return { ...how, stdout: stdout.toString(), stderr: stderr.toString() };
        },
        end: async () => {
          client.end();
          await closed;
        },
      }),
    );
    client.connect({
      ...mac.address,
      username,
      authHandler: [...before, key].map((each) => ({ type: 'publickey', username, key: each.private })),
      hostVerifier: (shown: Buffer) => {
        hostKey = `SHA256:${createHash('sha256').update(shown).digest('base64').replace(/=+$/, '')}`;
        return true;
      },
    });
  });
