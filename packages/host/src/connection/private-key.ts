import ssh2 from 'ssh2';

/** The key with which we log in is unusable: nobody was dialled. Says nothing of what is in it. */
class PrivateKeyError extends Error {
  override readonly name = 'PrivateKeyError';
}

const advice = 'Give an unencrypted private key as ssh-keygen writes it (-----BEGIN OPENSSH PRIVATE KEY-----).';

/** The parser's own words are never passed on: they may quote what they stumbled over. */
export const checkPrivateKey = (text: string): void => {
  const parsed = ssh2.utils.parseKey(text);
  if (parsed instanceof Error) {
    const why = /encrypted|passphrase/i.test(parsed.message)
      ? 'it is encrypted'
      : 'it is no private key in a known form';
    throw new PrivateKeyError(`The SSH private key cannot be read: ${why}. ${advice}`);
  }
  const keys = [parsed].flat();
  if (!keys.some((key) => key.isPrivateKey())) {
    throw new PrivateKeyError(`The SSH private key cannot be read: it is a public key. ${advice}`);
  }
};
