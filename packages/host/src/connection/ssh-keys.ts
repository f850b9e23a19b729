import ssh2, { type ParsedKey } from 'ssh2';

/** The SSH private key is invalid. No connection was made. The message never quotes the key. */
class PrivateKeyError extends Error {
  override readonly name = 'PrivateKeyError';
}

const advice = 'Give an unencrypted private key as ssh-keygen writes it (-----BEGIN OPENSSH PRIVATE KEY-----).';

/** Throws a `PrivateKeyError`. Drops the parser's messages, which may quote the key. */
export const parsePrivateKey = (text: string): ParsedKey => {
  const parsed = ssh2.utils.parseKey(text);
  if (parsed instanceof Error) {
    const why = /encrypted|passphrase/i.test(parsed.message)
      ? 'it is encrypted'
      : 'it is no private key in a known form';
    throw new PrivateKeyError(`The SSH private key cannot be read: ${why}. ${advice}`);
  }
  if (!parsed.isPrivateKey())
    throw new PrivateKeyError(`The SSH private key cannot be read: it is a public key. ${advice}`);
  return parsed;
};

/** In the formats of OpenSSH. */
export interface KeyPair {
  readonly privateKey: string;
  /** `ssh-ed25519 AAAA… comment` */
  readonly publicKey: string;
}

type Generate = (comment: string) => { readonly private: string; readonly public: string };

const ed25519: Generate = (comment) => ssh2.utils.generateKeyPairSync('ed25519', { comment });

const maxTries = 20;

/** A new key pair that ssh2 can parse: ssh2 1.17 cannot parse one in 300 of the keys that it generates. */
export const newKeyPair = (comment: string, generate: Generate = ed25519): KeyPair => {
  for (let tries = 1; tries <= maxTries; tries += 1) {
    const made = generate(comment);
    if (canBeRead(made.private)) return { privateKey: made.private, publicKey: made.public };
  }
  throw new Error(`No usable SSH key came out of ${maxTries} tries. Try again.`);
};

/** The public half of a private key, without a comment. Throws a `PrivateKeyError`. */
export const publicKeyOf = (privateKey: string): string => {
  const key = parsePrivateKey(privateKey);
  return `${key.type} ${key.getPublicSSH().toString('base64')}`;
};

const canBeRead = (privateKey: string): boolean => {
  try {
    return publicKeyOf(privateKey) !== '';
  } catch {
    return false;
  }
};
