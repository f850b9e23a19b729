/** How loginwindow keeps the password for auto-login in `/etc/kcpassword`: hidden from nobody, XOR with this. */
const key = Buffer.from('7d895223d2bcddeaa3b91f', 'hex');

const xor = (bytes: Buffer): Buffer => Buffer.from(bytes.map((byte, index) => byte ^ (key[index % key.length] ?? 0)));

/** Up to the first NUL, with which the file is padded. */
export const decodeKcpassword = (file: Buffer): Buffer => {
  const clear = xor(file);
  const end = clear.indexOf(0);
  return end === -1 ? clear : clear.subarray(0, end);
};

/** Always at least one byte of padding, up to the next multiple of eleven. */
export const encodeKcpassword = (password: string): Buffer => {
  const clear = Buffer.from(password);
  const padded = Buffer.alloc((Math.floor(clear.length / key.length) + 1) * key.length);
  clear.copy(padded);
  return xor(padded);
};

/** What a wrong password is replaced with on Tahoe (INC-07). */
export const sealedPassword: Buffer = encodeKcpassword('<sealed>');
