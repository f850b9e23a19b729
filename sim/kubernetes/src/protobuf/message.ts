import dump from '../generated/protobuf.generated.json' with { type: 'json' };
import { type Json, set } from '../object.ts';
import { MalformedError, maxDepth, parseJson } from '../serialization/json.ts';
import { bytesOf, integerOf, readFields, readPacked, scalarOf, textOf, type WireField } from './wire.ts';

type Fields = ReadonlyMap<number, WireField['value']>;

const fieldsOf = (bytes: Uint8Array): Fields => new Map(readFields(bytes).map(({ number, value }) => [number, value]));

const integer = (fields: Fields, number: number): number => integerOf(fields.get(number) ?? 0);

const text = (fields: Fields, number: number): string => {
  const value = fields.get(number);
  return value === undefined ? '' : textOf(value);
};

/** Go's zero time has no bytes and is null in JSON. Years after 9999 are invalid. */
const instant = (bytes: Uint8Array): { iso: string; nanoseconds: number } | undefined => {
  if (bytes.length === 0) return undefined;
  const fields = fieldsOf(bytes);
  const date = new Date(integer(fields, 1) * 1000);
  const year = date.getUTCFullYear();
  if (Number.isNaN(year) || year < 0 || year > 9999) {
    throw new MalformedError('Time.MarshalJSON: year outside of range [0,9999]');
  }
  return { iso: date.toISOString().slice(0, 19), nanoseconds: integer(fields, 2) };
};

const time = (bytes: Uint8Array): Json => {
  const at = instant(bytes);
  return at ? `${at.iso}Z` : null;
};

const microTime = (bytes: Uint8Array): Json => {
  const at = instant(bytes);
  if (!at) return null;
  const microseconds = Math.floor(Math.abs(at.nanoseconds) / 1000) % 1_000_000;
  return `${at.iso}.${String(microseconds).padStart(6, '0')}Z`;
};

/** As Go prints a duration: `1h0m0.5s`. */
const duration = (bytes: Uint8Array): Json => {
  const nanoseconds = integer(fieldsOf(bytes), 1);
  const total = Math.abs(nanoseconds) / 1e9;
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor(total / 60) % 60;
  const seconds = total - hours * 3600 - minutes * 60;
  const sign = nanoseconds < 0 ? '-' : '';
  const start = hours > 0 ? `${hours}h${minutes}m` : minutes > 0 ? `${minutes}m` : '';
  return `${sign}${start}${Number(seconds.toFixed(9))}s`;
};

const embeddedJson = (bytes: Uint8Array): Json => {
  const raw = fieldsOf(bytes).get(1);
  if (raw === undefined || bytesOf(raw).length === 0) return null;
  const { value, problem } = parseJson(textOf(raw));
  if (problem !== undefined) throw new MalformedError(problem);
  return value;
};

const intOrString = (bytes: Uint8Array): Json => {
  const fields = fieldsOf(bytes);
  return integer(fields, 1) === 0 ? integerOf(fields.get(2) ?? 0, 32) : text(fields, 3);
};

const quantity = (bytes: Uint8Array): Json => text(fieldsOf(bytes), 1) || '0';

const meta = 'k8s.io.apimachinery.pkg.apis.meta.v1';

/** Messages whose JSON is not an object with their fields. */
const wellKnownTypes: Readonly<Record<string, (bytes: Uint8Array) => Json>> = {
  [`${meta}.Time`]: time,
  [`${meta}.MicroTime`]: microTime,
  [`${meta}.Duration`]: duration,
  [`${meta}.FieldsV1`]: embeddedJson,
  'k8s.io.apimachinery.pkg.api.resource.Quantity': quantity,
  'k8s.io.apimachinery.pkg.runtime.RawExtension': embeddedJson,
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': intOrString,
  'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSON': embeddedJson,
};

const extensions = 'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1';
const items = (fields: Record<string, Json>): Json => fields['items'] ?? [];

/** Messages for a Go slice or union: built from their decoded fields. */
const unions: Readonly<Record<string, (fields: Record<string, Json>) => Json>> = {
  'k8s.io.api.authentication.v1.ExtraValue': items,
  'k8s.io.api.authorization.v1.ExtraValue': items,
  'k8s.io.api.certificates.v1.ExtraValue': items,
  [`${extensions}.JSONSchemaPropsOrArray`]: (fields) => fields['schema'] ?? fields['jSONSchemas'] ?? null,
  [`${extensions}.JSONSchemaPropsOrBool`]: (fields) => fields['schema'] ?? fields['allows'] ?? false,
  [`${extensions}.JSONSchemaPropsOrStringArray`]: (fields) => fields['schema'] ?? fields['property'] ?? null,
};

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
 * Go encodes a non-pointer field even when it is unset, and writes it to JSON only without `omitempty`. (Go would also write empty structs,
 * which are unset too.)
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

/** The JSON form of one message. Unknown fields are skipped, as in Go. */
export const decodeMessage = (message: string, bytes: Uint8Array, depth = 0): Json => {
  if (depth > maxDepth) throw new MalformedError('proto: exceeded max depth');
  const special = Object.hasOwn(wellKnownTypes, message) ? wellKnownTypes[message] : undefined;
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
