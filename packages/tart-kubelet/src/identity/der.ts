/** As much of DER as a certificate request is made of. */

const lengthOf = (count: number): Buffer => {
  if (count < 0x80) return Buffer.from([count]);
  const digits = Math.ceil(count.toString(16).length / 2);
  const length = Buffer.alloc(1 + digits);
  length.writeUInt8(0x80 + digits, 0);
  length.writeUIntBE(count, 1, digits);
  return length;
};

const element = (tag: number, parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(body.length), body]);
};

export const sequence = (...parts: readonly Uint8Array[]): Buffer => element(0x30, parts);
export const set = (...parts: readonly Uint8Array[]): Buffer => element(0x31, parts);
export const utf8 = (text: string): Buffer => element(0x0c, [Buffer.from(text)]);
export const octets = (bytes: Uint8Array): Buffer => element(0x04, [bytes]);
/** In hexadecimal, as it stands on the wire. */
export const objectID = (hex: string): Buffer => element(0x06, [Buffer.from(hex, 'hex')]);
export const bits = (bytes: Uint8Array): Buffer => element(0x03, [Buffer.from([0]), bytes]);
export const zero = element(0x02, [Buffer.from([0])]);
/** `[n]`, holding other elements. */
export const tagged = (n: number, ...parts: readonly Uint8Array[]): Buffer => element(0xa0 + n, parts);
/** `[n]`, in the place of a plain element. */
export const choice = (n: number, bytes: Uint8Array): Buffer => element(0x80 + n, [bytes]);
