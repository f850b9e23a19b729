/** Encodes the DER subset for certificates and certificate requests. */

const lengthOf = (length: number): Buffer => {
  if (length < 0x80) return Buffer.of(length);
  const digits = Math.ceil(length.toString(16).length / 2);
  const bytes = Buffer.alloc(1 + digits, 0x80 | digits);
  bytes.writeUIntBE(length, 1, digits);
  return bytes;
};

const element = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag), lengthOf(body.length), body]);
};

export const sequence = (...parts: readonly Uint8Array[]): Buffer => element(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]): Buffer => element(0x31, ...parts);
export const utf8String = (text: string): Buffer => element(0x0c, Buffer.from(text));
export const octetString = (bytes: Uint8Array): Buffer => element(0x04, bytes);
export const bitString = (bytes: Uint8Array): Buffer => element(0x03, Buffer.of(0), bytes);
/** The encoded value in hexadecimal: only a few fixed OIDs are needed. */
export const objectID = (hex: string): Buffer => element(0x06, Buffer.from(hex, 'hex'));
/** Positive: a leading 1 bit would be the sign. */
export const integer = (bytes: Uint8Array): Buffer =>
  element(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.of(0) : Buffer.alloc(0), bytes);
export const booleanTrue = element(0x01, Buffer.of(0xff));
/** UTCTime ends with the year 2049. */
export const time = (milliseconds: number): Buffer => {
  const digits = new Date(milliseconds).toISOString().replaceAll(/\.\d+|\D/g, '');
  return digits < '2050' ? element(0x17, Buffer.from(`${digits.slice(2)}Z`)) : element(0x18, Buffer.from(`${digits}Z`));
};
/** `[n]`, constructed from other elements. */
export const explicitTag = (n: number, ...parts: readonly Uint8Array[]): Buffer => element(0xa0 + n, ...parts);
/** `[n]`, replacing the tag of a plain element. */
export const implicitTag = (n: number, bytes: Uint8Array): Buffer => element(0x80 + n, bytes);

export const pem = (label: string, bytes: Buffer): string => {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
};
