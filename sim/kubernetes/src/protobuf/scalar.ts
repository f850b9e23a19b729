import { MalformedError } from '../exchange/json.ts';
import type { Json } from '../object.ts';
import type { WireField } from './wire.ts';

type WireValue = WireField['value'];

const wrongType = (type: string): MalformedError =>
  new MalformedError(`proto: wrong wireType for a field of type ${type}`);

export const bytesOf = (value: WireValue): Uint8Array => {
  if (value instanceof Uint8Array) return value;
  throw wrongType('bytes');
};

export const textOf = (value: WireValue): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytesOf(value));

/** A signed integer. Refused, not rounded, if a double cannot hold it. */
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

/** Undefined for a type that is no scalar. */
export const scalarOf = (type: string): ((value: WireValue) => Json) | undefined =>
  Object.hasOwn(scalars, type) ? scalars[type] : undefined;
