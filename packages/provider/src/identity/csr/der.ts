/** One value of DER: what it is, and its content. */
export interface Element {
  readonly tag: number;
  readonly body: Uint8Array;
}

/** Not DER, or not what was expected there. */
export class DerError extends Error {}

export const tags = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8: 0x0c,
  printable: 0x13,
  sequence: 0x30,
  set: 0x31,
  context0: 0xa0,
} as const;

/**
 * The values that stand one after the other in `bytes`, to the last byte. As strict as Go's parser or stricter, so that the signer can
 * never read a request in another way than we did: short tags, definite lengths in their shortest form, nothing left over.
 */
export const elementsIn = (bytes: Uint8Array): Element[] => {
  const elements: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] ?? 0;
    if ((tag & 0x1f) === 0x1f) throw new DerError('a tag of more than one byte');
    const { length, start } = lengthAt(bytes, at + 1);
    if (start + length > bytes.length) throw new DerError('a value that is longer than what holds it');
    elements.push({ tag, body: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return elements;
};

const lengthAt = (bytes: Uint8Array, at: number): { length: number; start: number } => {
  const first = bytes[at];
  if (first === undefined) throw new DerError('a value without a length');
  if (first < 0x80) return { length: first, start: at + 1 };
  const digits = first & 0x7f;
  if (digits === 0 || digits > 3) throw new DerError('a length that is indefinite or too large');
  const start = at + 1 + digits;
  if (start > bytes.length) throw new DerError('a length that is cut off');
  const length = bytes.subarray(at + 1, start).reduce((sum, digit) => sum * 256 + digit, 0);
  if (length < 0x80 || length < 256 ** (digits - 1)) throw new DerError('a length that is not in its shortest form');
  return { length, start };
};

/** The content of a value that must be of this kind. */
export const bodyOf = (element: Element | undefined, tag: number, what: string): Uint8Array => {
  if (element?.tag !== tag) throw new DerError(`no ${what} where it should be`);
  return element.body;
};
