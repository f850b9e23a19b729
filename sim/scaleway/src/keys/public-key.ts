import { createHash } from 'node:crypto';

const kinds: ReadonlySet<string> = new Set([
  'ssh-ed25519',
  'ssh-rsa',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'sk-ssh-ed25519@openssh.com',
]);

/** The bytes of a key in OpenSSH's form: `kind base64 comment`, where the bytes begin with the kind. */
const bytesOf = (publicKey: string): Buffer | undefined => {
  const [kind = '', encoded = ''] = publicKey.trim().split(/\s+/);
  if (!kinds.has(kind) || /[\r\n]/.test(publicKey.trim())) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  const said = bytes.length < 4 ? '' : bytes.subarray(4, 4 + bytes.readUInt32BE(0)).toString();
  return said === kind ? bytes : undefined;
};

export const isPublicKey = (text: string): boolean => bytesOf(text) !== undefined;

/** `256 MD5:… (ED25519)` at Scaleway; only that it differs between keys is used by anybody. */
export const fingerprint = (publicKey: string): string =>
  `SHA256:${createHash('sha256')
    .update(bytesOf(publicKey) ?? '')
    .digest('base64')
    .replace(/=+$/, '')}`;
