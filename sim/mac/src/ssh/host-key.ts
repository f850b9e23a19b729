import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import ssh2 from 'ssh2';
import { replaceAtOnce } from '../replace-file.ts';

export interface HostKey {
  /** In OpenSSH's form. */
  readonly privateKey: string;
  /** `SHA256:…`, as ssh-keygen -l shows it. */
  readonly fingerprint: string;
}

const fingerprint = (publicKey: Buffer): string =>
  `SHA256:${createHash('sha256').update(publicKey).digest('base64').replace(/=+$/, '')}`;

/** One in 300 of those that ssh2 1.17 makes it cannot read itself. */
const newKey = (): string => {
  for (;;) {
    const made = ssh2.utils.generateKeyPairSync('ed25519').private;
    if (!(ssh2.utils.parseKey(made) instanceof Error)) return made;
  }
};

/** The key that sshd shows, kept in `file`; made when there is none. */
export const hostKeyIn = (file: string): HostKey => {
  if (!existsSync(file)) replaceAtOnce(file, newKey(), 0o600);
  const privateKey = readFileSync(file, 'utf8');
  const parsed = ssh2.utils.parseKey(privateKey);
  if (parsed instanceof Error) throw new Error(`${file} holds no host key`, { cause: parsed });
  return { privateKey, fingerprint: fingerprint(parsed.getPublicSSH()) };
};
