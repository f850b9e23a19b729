import type { Json } from '../object.ts';
import { MalformedError } from '../serialization/json.ts';

/** One field on the wire: a varint, or bytes. */
export interface WireField {
  number: number;
  value: number | bigint | Uint8Array;
}

/** Varints of up to seven bytes fit a double; longer ones, such as negative numbers, become a bigint. */
const readVarint = (bytes: Uint8Array, start: number): { value: number | bigint; end: number } => {
  let small = 0;
  let large = 0n;
  for (let index = 0; index < 10; index++) {
    const byte = bytes[start + index];
    if (byte === undefined) throw new MalformedError('unexpected EOF');
    if (index < 7) small += (byte & 0x7f) * 2 ** (7 * index);
    else large |= BigInt(byte & 0x7f) << BigInt(7 * index);
    if (byte < 0x80) {
      return { value: index < 7 ? small : BigInt.asUintN(64, large | BigInt(small)), end: start + index + 1 };
    }
  }
  throw new MalformedError('proto: integer overflow');
};

/** Splits a message into fields. Their types are not on the wire. */
export const readFields = (bytes: Uint8Array): WireField[] => {
  const fields: WireField[] = [];
  let position = 0;
  const take = (length: number): Uint8Array => {
    if (length > bytes.length - position) throw new MalformedError('unexpected EOF');
    const taken = bytes.subarray(position, position + length);
    position += length;
    return taken;
  };
  const varint = (): number | bigint => {
    const { value, end } = readVarint(bytes, position);
    position = end;
    return value;
  };
  while (position < bytes.length) {
    const tag = Number(varint());
    const wireType = tag % 8;
    const number = Math.floor(tag / 8);
    if (number === 0) throw new MalformedError(`proto: illegal tag 0 (wire type ${wireType})`);
    if (wireType === 0) fields.push({ number, value: varint() });
    else if (wireType === 1) fields.push({ number, value: take(8) });
    else if (wireType === 2) fields.push({ number, value: take(Number(varint())) });
    else if (wireType === 5) fields.push({ number, value: take(4) });
    else throw new MalformedError(`proto: illegal wireType ${wireType}`);
  }
  return fields;
};

/** The varints of a packed list. */
export const readPacked = (bytes: Uint8Array): (number | bigint)[] => {
  const values: (number | bigint)[] = [];
  for (let position = 0; position < bytes.length; ) {
    const { value, end } = readVarint(bytes, position);
    values.push(value);
    position = end;
  }
  return values;
};

type WireValue = WireField['value'];

const wrongType = (type: string): MalformedError =>
  new MalformedError(`proto: wrong wireType for a field of type ${type}`);

export const bytesOf = (value: WireValue): Uint8Array => {
  if (value instanceof Uint8Array) return value;
  throw wrongType('bytes');
};

export const textOf = (value: WireValue): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytesOf(value));

/** A signed integer. Throws, instead of rounding, if a double cannot hold it. */
export const integerOf = (value: WireValue, bits: 32 | 64 = 64): number => {
  if (value instanceof Uint8Array) throw wrongType('integer');
  const exact = BigInt.asIntN(bits, BigInt(value));
  const result = Number(exact);
  if (BigInt(result) !== exact) throw new MalformedError(`this server cannot keep the integer ${exact} exactly`);
  return result;
};

const doubleOf = (value: WireValue): number => {
  const bytes = bytesOf(value);
  if (bytes.length !== 8) throw wrongType('double');
  const result = new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true);
  if (!Number.isFinite(result)) throw new MalformedError(`json: unsupported value: ${result}`);
  return result;
};

/** Bytes are base64 in JSON. */
const base64Of = (value: WireValue): string => Buffer.from(bytesOf(value)).toString('base64');

const scalars: Readonly<Record<string, (value: WireValue) => Json>> = {
  string: textOf,
  bytes: base64Of,
  bool: (value) => integerOf(value) !== 0,
  int32: (value) => integerOf(value, 32),
  int64: (value) => integerOf(value),
  double: doubleOf,
};

/** Undefined for a type that is not a scalar. */
export const scalarOf = (type: string): ((value: WireValue) => Json) | undefined =>
  Object.hasOwn(scalars, type) ? scalars[type] : undefined;
