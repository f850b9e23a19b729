/** loginwindow stores the password for auto-login in `/etc/kcpassword`, obfuscated by XOR with this key. */
const key = Buffer.from('7d895223d2bcddeaa3b91f', 'hex');

const xor = (bytes: Buffer): Buffer => Buffer.from(bytes.map((byte, index) => byte ^ (key[index % key.length] ?? 0)));

/** Up to the first NUL of the padding. */
export const decodeKcpassword = (file: Buffer): Buffer => {
  const clear = xor(file);
  const end = clear.indexOf(0);
  return end === -1 ? clear : clear.subarray(0, end);
};

/** Padded to the next multiple of eleven, with at least one byte. */
export const encodeKcpassword = (password: string): Buffer => {
  const clear = Buffer.from(password);
  const padded = Buffer.alloc((Math.floor(clear.length / key.length) + 1) * key.length);
  clear.copy(padded);
  return xor(padded);
};

/** Replaces a wrong password on Tahoe (INC-07). */
export const sealedPassword: Buffer = encodeKcpassword('<sealed>');
