import { type ApiError, badRequest, unsupportedMediaType } from '../errors/api-error.ts';
import { rawSchemaName } from '../generated/catalogue.ts';
import { isObject, type Json, type KubeObject } from '../object.ts';
import { decodeProtobuf } from '../protobuf/decode.ts';
import { apiVersionOf } from '../resource.ts';
import { MalformedError, type Parsed, parseJson } from './json.ts';
import { parseYaml } from './yaml.ts';

interface Decoded {
  value: unknown;
  /** Strict validation errors about duplicate keys, to be joined with the others by `, `. */
  duplicates: string[];
}

interface Kind {
  group: string;
  version: string;
  kind: string;
}

/** The kind that an endpoint accepts. */
export interface Expected extends Kind {
  custom: boolean;
}

const accepted = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

/** A media type without parameters, in lower case; '' if invalid. */
const mediaType = (header: string | undefined): string => {
  const essence = (header ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(essence) ? essence : '';
};

/** The start of a body, as errors show it: text if it looks like JSON, otherwise hexadecimal. */
const summary = (bytes: Uint8Array): string => {
  if (bytes.length === 0) return '<empty>';
  const start = Buffer.from(bytes.subarray(0, 30));
  return `${start.toString(bytes[0] === 0x7b ? 'utf8' : 'hex')}${bytes.length > 30 ? ' ...' : ''}`;
};

const unrecognized = (bytes: Uint8Array, kind: string | undefined, why: string): ApiError =>
  badRequest(
    kind === undefined
      ? why
      : `the object provided is unrecognized (must be of type ${kind}): ${why} (${summary(bytes)})`,
  );

// Go's print of the anonymous struct into which it first decodes every body.
const typeMeta = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;

const goKind = (value: unknown): string => {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
};

type Parse = (bytes: Uint8Array, expected: Kind | undefined) => Parsed;

const parsers: Readonly<Record<string, Parse>> = {
  'application/json': (bytes) => {
    try {
      return parseJson(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
    } catch (error) {
      if (!(error instanceof MalformedError)) throw error;
      throw new MalformedError(`couldn't get version/kind; json parse error: ${error.message}`);
    }
  },
  'application/yaml': (bytes) => {
    let text: string;
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      throw new MalformedError('yaml: invalid leading UTF-8 octet');
    }
    return parseYaml(text);
  },
  'application/vnd.kubernetes.protobuf': (bytes, expected) => ({
    value: decodeProtobuf(bytes, expected) as unknown as Json,
    duplicates: [],
    problem: undefined,
  }),
};

const meta = (value: Record<string, unknown>, field: 'apiVersion' | 'kind'): string => {
  const found = value[field];
  return typeof found === 'string' ? found : '';
};

const versionIn = (apiVersion: string): string => apiVersion.slice(apiVersion.lastIndexOf('/') + 1);

/**
 * The value of a request body. Errors name the `expected` kind, if given.
 * Invalid UTF-8 in JSON becomes U+FFFD. Integers that a double cannot hold are refused, never rounded. A body of `null`, and an empty YAML
 * body, count as `{}`; an empty JSON body is an error.
 */
export const decodeBody = (bytes: Uint8Array, contentType: string | undefined, expected?: Kind): Decoded => {
  const kind = expected?.kind;
  const type = contentType === undefined || contentType === '' ? 'application/json' : mediaType(contentType);
  const parse = parsers[type];
  if (!parse) {
    throw unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    );
  }
  let parsed: Parsed;
  try {
    parsed = parse(bytes, expected);
  } catch (error) {
    if (error instanceof MalformedError) throw unrecognized(bytes, kind, error.message);
    throw error;
  }
  const value = parsed.value ?? {};
  const mistyped = (what: string): ApiError =>
    unrecognized(bytes, kind, `couldn't get version/kind; json parse error: json: cannot unmarshal ${what}`);
  if (!isObject(value)) throw mistyped(`${goKind(value)} into Go value of type ${typeMeta}`);
  for (const field of ['apiVersion', 'kind'] as const) {
    const found = value[field] ?? '';
    if (typeof found !== 'string') throw mistyped(`${goKind(found)} into Go struct field .${field} of type string`);
  }
  const apiVersion = meta(value, 'apiVersion');
  if (apiVersion.split('/').length > 2)
    throw unrecognized(bytes, kind, `unexpected GroupVersion string: ${apiVersion}`);
  if (parsed.problem !== undefined) {
    const actual = meta(value, 'kind');
    const prefix =
      kind === undefined || actual === ''
        ? ''
        : `${actual} in version ${JSON.stringify(versionIn(apiVersion))} cannot be handled as a ${kind}: `;
    throw badRequest(`${prefix}${parsed.problem}`);
  }
  return { value, duplicates: parsed.duplicates };
};

/** The Go package of `certificates.k8s.io` is `certificates`, that of the core group `core`. */
const goPackage = (group: string): string => group.split('.')[0] || 'core';

const checkBuiltIn = (object: KubeObject, expected: Expected): void => {
  const [version = '', group = ''] = object.apiVersion.split('/').reverse();
  if (object.kind === expected.kind && group === expected.group && version === expected.version) return;
  const refuse = (why: string): ApiError =>
    badRequest(`${object.kind} in version ${JSON.stringify(version)} cannot be handled as a ${expected.kind}: ${why}`);
  if (rawSchemaName(group, version, object.kind) === undefined) {
    throw refuse(
      `no kind ${JSON.stringify(object.kind)} is registered for version ${JSON.stringify(object.apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  if (object.kind === expected.kind && group === expected.group) {
    throw badRequest(
      `the API version in the data (${object.apiVersion}) does not match the expected API version (${apiVersionOf(expected)})`,
    );
  }
  throw refuse(
    `converting (${version}.${object.kind}) to (${goPackage(expected.group)}.${expected.kind}): unknown conversion`,
  );
};

const checkCustom = (bytes: Uint8Array, object: KubeObject, expected: Expected): void => {
  if (object.kind === '') {
    const shown = new TextDecoder().decode(bytes);
    throw unrecognized(bytes, expected.kind, `Object 'Kind' is missing in '${shown}'`);
  }
  if (object.apiVersion !== apiVersionOf(expected)) {
    throw badRequest(
      `the API version in the data (${object.apiVersion}) does not match the expected API version (${apiVersionOf(expected)})`,
    );
  }
};

/**
 * The object in a request body, checked to be of the kind that the endpoint accepts. Built-in kinds may omit their kind, custom resources
 * must not. (A custom resource of another kind in the same group is refused by validation, as on the real server.)
 */
export const decodeObject = (
  bytes: Uint8Array,
  contentType: string | undefined,
  expected: Expected,
): { object: KubeObject; duplicates: string[] } => {
  if (expected.custom && mediaType(contentType) === 'application/vnd.kubernetes.protobuf') {
    throw unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: ${accepted.slice(0, 2).join(', ')}`,
    );
  }
  const { value, duplicates } = decodeBody(bytes, contentType, expected);
  const fields = value as Record<string, unknown>;
  const object = { ...fields, apiVersion: meta(fields, 'apiVersion'), kind: meta(fields, 'kind') } as KubeObject;
  if (expected.custom) {
    checkCustom(bytes, object, expected);
  } else {
    if (object.apiVersion === '') object.apiVersion = apiVersionOf(expected);
    if (object.kind === '') object.kind = expected.kind;
    checkBuiltIn(object, expected);
  }
  return { object, duplicates };
};

/** The options in the body of a delete. They are valid in every group; an empty body means none. */
export const decodeDeleteOptions = (bytes: Uint8Array, contentType: string | undefined): Record<string, unknown> => {
  if (bytes.length === 0) return {};
  const { value } = decodeBody(bytes, contentType);
  const options = value as Record<string, unknown>;
  const kind = meta(options, 'kind');
  if (kind !== '' && kind !== 'DeleteOptions') {
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(meta(options, 'apiVersion'))} in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  return options;
};

export type PatchBody = 'json' | 'merge' | 'strategic' | 'apply';

/** The prefix of the real server's error; the strategic merge has none. */
const beginnings: Readonly<Record<PatchBody, string>> = {
  json: 'error decoding patch: ',
  merge: 'error decoding patch: ',
  strategic: '',
  apply: 'error decoding YAML: ',
};

/**
 * The body of a PATCH: a list of operations for `json`, otherwise an object. `null` is an empty patch, except for a merge patch.
 * `jsonPatch` validates the operations.
 */
export const decodePatch = (bytes: Uint8Array, type: PatchBody): Decoded => {
  const refuse = (why: string): ApiError => badRequest(`${beginnings[type]}${why}`);
  let parsed: Parsed;
  try {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    parsed = type === 'apply' ? parseYaml(text) : parseJson(text);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    throw refuse(type === 'apply' ? `error converting YAML to JSON: ${error.message}` : error.message);
  }
  if (parsed.problem !== undefined) throw refuse(parsed.problem);
  if (parsed.value === null && type === 'merge') throw badRequest('Invalid JSON Patch');
  const value = parsed.value ?? (type === 'json' ? [] : {});
  if (typeof value !== 'object' || Array.isArray(value) !== (type === 'json')) {
    const wanted = type === 'json' ? '[]handlers.jsonPatchOp' : 'map[string]interface {}';
    const step = type === 'apply' ? 'error unmarshaling JSON: while decoding JSON: ' : '';
    throw refuse(`${step}json: cannot unmarshal ${goKind(value)} into Go value of type ${wanted}`);
  }
  return { value, duplicates: parsed.duplicates };
};
