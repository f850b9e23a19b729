/** With this macOS hides the password of auto-login in `/etc/kcpassword`, from nobody (bootstrap.md 2.3). */
const key = Buffer.from('7d895223d2bcddeaa3b91f', 'hex');

/**
 * A password as `/etc/kcpassword` keeps it: padded with NUL to the next multiple of the key's eleven bytes, by one byte at least, and
 * then XORed with the key over and over. As reversible as the password itself: a secret.
 */
export const kcpassword = (password: string): Buffer => {
  const clear = Buffer.from(password);
  const padded = Buffer.alloc((Math.floor(clear.length / key.length) + 1) * key.length);
  clear.copy(padded);
  return Buffer.from(padded.map((byte, index) => byte ^ (key[index % key.length] ?? 0)));
};
