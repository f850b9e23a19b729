/** Writes DER, as far as a certificate and a request for one need it. */

export const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag), lengthOf(body.length), body]);
};

const lengthOf = (length: number): Buffer => {
  if (length < 0x80) return Buffer.of(length);
  const digits = length < 0x1_00 ? 1 : length < 0x1_00_00 ? 2 : 3;
  const bytes = Buffer.alloc(1 + digits, 0x80 | digits);
  bytes.writeUIntBE(length, 1, digits);
  return bytes;
};

export const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]): Buffer => der(0x31, ...parts);
/** `hex` is the encoded content: names are few, and known. */
export const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
export const utf8 = (text: string): Buffer => der(0x0c, Buffer.from(text));
export const bitString = (bytes: Uint8Array): Buffer => der(0x03, Buffer.of(0), bytes);
export const octetString = (bytes: Uint8Array): Buffer => der(0x04, bytes);
/** Positive: a leading bit must not read as a sign. */
export const integer = (bytes: Uint8Array): Buffer =>
  der(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.of(0) : Buffer.alloc(0), bytes);
/** UTCTime holds the years up to 2049. */
export const time = (milliseconds: number): Buffer => {
  const digits = new Date(milliseconds).toISOString().replaceAll(/\.\d+|\D/g, '');
  return digits < '2050' ? der(0x17, Buffer.from(`${digits.slice(2)}Z`)) : der(0x18, Buffer.from(`${digits}Z`));
};

export const pem = (label: string, bytes: Uint8Array): string => {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
};
