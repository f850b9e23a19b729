import dump from '../generated/protobuf.generated.json' with { type: 'json' };
import { MalformedError, maxDepth } from '../exchange/json.ts';
import { set, type Json } from '../object.ts';
import { bytesOf, scalarOf, textOf } from './scalar.ts';
import { specials, unions } from './special.ts';
import { readFields, readPacked, type WireField } from './wire.ts';

/** `[name in JSON, type, flags]`; flags: r repeated, m map from strings, p pointer, o omitempty, i inlined into the parent. */
type Description = readonly [name: string, type: string, flags: string];

const messages = dump as unknown as Readonly<Record<string, Readonly<Record<string, Description>>>>;

export const isKnown = (message: string): boolean => Object.hasOwn(messages, message);

type WireValue = WireField['value'];

const decodeValue = (type: string, value: WireValue, depth: number): Json => {
  const scalar = scalarOf(type);
  return scalar ? scalar(value) : decodeMessage(type, bytesOf(value), depth);
};

const isZero = (value: Json): boolean =>
  value === null ||
  value === '' ||
  value === 0 ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/**
 * Go writes a field that is no pointer even when nobody has set it, and writes it to JSON only without `omitempty`. (Go would
 * also write empty structs; nobody has set those either.)
 */
const isUnset = (value: Json, flags: string): boolean =>
  value === null || (!flags.includes('p') && flags.includes('o') && isZero(value));

const addElement = (target: Record<string, Json>, [name, type]: Description, value: WireValue, depth: number): void => {
  const list = Array.isArray(target[name]) ? target[name] : [];
  set(target, name, list);
  const packed = value instanceof Uint8Array && ['bool', 'int32', 'int64'].includes(type);
  for (const element of packed ? readPacked(value) : [value]) list.push(decodeValue(type, element, depth));
};

const addEntry = (target: Record<string, Json>, [name, type]: Description, value: WireValue, depth: number): void => {
  const map = Object.hasOwn(target, name) ? target[name] : {};
  if (typeof map !== 'object' || map === null || Array.isArray(map)) return;
  set(target, name, map);
  const entry = new Map(readFields(bytesOf(value)).map((field) => [field.number, field.value]));
  const key = entry.get(1);
  const empty = scalarOf(type) && type !== 'string' && type !== 'bytes' ? 0 : new Uint8Array();
  set(map, key === undefined ? '' : textOf(key), decodeValue(type, entry.get(2) ?? empty, depth));
};

/** The JSON form of one message. Fields that this version of Kubernetes does not know are passed over, as Go does. */
export const decodeMessage = (message: string, bytes: Uint8Array, depth = 0): Json => {
  if (depth > maxDepth) throw new MalformedError('proto: exceeded max depth');
  const special = Object.hasOwn(specials, message) ? specials[message] : undefined;
  if (special) return special(bytes);
  const fields = messages[message];
  if (!fields) throw new MalformedError(`proto: unknown message ${message}`);
  const result: Record<string, Json> = {};
  for (const { number, value } of readFields(bytes)) {
    const description = Object.hasOwn(fields, number) ? fields[number] : undefined;
    if (!description) continue;
    const [name, type, flags] = description;
    if (flags.startsWith('r')) addElement(result, description, value, depth + 1);
    else if (flags.startsWith('m')) addEntry(result, description, value, depth + 1);
    else {
      const decoded = decodeValue(type, value, depth + 1);
      if (flags.includes('i')) Object.assign(result, decoded);
      else if (isUnset(decoded, flags)) delete result[name];
      else set(result, name, decoded);
    }
  }
  const union = Object.hasOwn(unions, message) ? unions[message] : undefined;
  return union ? union(result) : result;
};
