import { unsupportedMediaType } from '../errors/api-error.ts';
import { rawSchemaName } from '../generated/catalogue.ts';
import { isObject, type KubeObject } from '../object.ts';
import { apiVersionOf } from '../resource.ts';
import { MalformedError } from '../serialization/json.ts';
import { decodeMessage, isKnown } from './message.ts';
import { bytesOf, readFields, textOf, type WireField } from './wire.ts';

/** The prefix of every protobuf body of Kubernetes: `k8s` and a zero. */
const prefix = [0x6b, 0x38, 0x73, 0x00];

const fieldsOf = (bytes: Uint8Array): ReadonlyMap<number, WireField['value']> =>
  new Map(readFields(bytes).map(({ number, value }) => [number, value]));

const textIn = (fields: ReadonlyMap<number, WireField['value']>, number: number): string => {
  const value = fields.get(number);
  return value === undefined ? '' : textOf(value);
};

/** The message of a kind. DeleteOptions exists in every group, with the same message. */
const messageOf = (apiVersion: string, kind: string): string | undefined => {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const schema = kind === 'DeleteOptions' ? rawSchemaName('', 'v1', kind) : rawSchemaName(group, version, kind);
  const message = schema?.replace(/^io\.k8s\./, 'k8s.io.').replaceAll('-', '_');
  return message !== undefined && isKnown(message) ? message : undefined;
};

/**
 * Decodes a protobuf body: the prefix, an envelope (`runtime.Unknown`) that names the kind, and the message. `expected` is the kind for an
 * envelope without one. Throws MalformedError for an invalid body, and 415 for a kind without a known message.
 */
export const decodeProtobuf = (
  bytes: Uint8Array,
  expected?: { group: string; version: string; kind: string },
): KubeObject => {
  if (bytes.length === 0) throw new MalformedError('empty data');
  if (!prefix.every((byte, index) => bytes[index] === byte)) {
    throw new MalformedError(
      `provided data does not appear to be a protobuf message, expected prefix [${prefix.join(' ')}]`,
    );
  }
  if (bytes.length === prefix.length) throw new MalformedError('empty body');
  const envelope = fieldsOf(bytes.subarray(prefix.length));
  const typeMeta = envelope.get(1);
  const named = typeMeta === undefined ? new Map<number, WireField['value']>() : fieldsOf(bytesOf(typeMeta));
  const apiVersion = textIn(named, 1) || (expected ? apiVersionOf(expected) : '');
  const kind = textIn(named, 2) || (expected?.kind ?? '');
  if (kind === '') throw new MalformedError("Object 'Kind' is missing");
  const message = messageOf(apiVersion, kind);
  if (message === undefined) {
    throw unsupportedMediaType(
      `the body of the request is a ${kind} of ${apiVersion} in protobuf, which this server cannot read - accepted media types include: application/json, application/yaml`,
    );
  }
  const raw = envelope.get(2);
  const fields = decodeMessage(message, raw === undefined ? new Uint8Array() : bytesOf(raw));
  return { apiVersion, kind, ...(isObject(fields) ? fields : {}) } as KubeObject;
};
