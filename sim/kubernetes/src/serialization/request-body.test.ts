import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../errors/api-error.ts';
import {
  decodeBody,
  decodeDeleteOptions,
  decodeObject,
  decodePatch,
  type Expected,
  type PatchBody,
} from './request-body.ts';

const configMap: Expected = { group: '', version: 'v1', kind: 'ConfigMap', custom: false };
const widget: Expected = { group: 'example.com', version: 'v1', kind: 'Widget', custom: true };

const errorOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof ApiError, `${String(error)} is no ApiError`);
    return `${error.code} ${error.status.reason}: ${error.message}`;
  }
  return 'nothing is wrong';
};

const json = 'application/json';
const yaml = 'application/yaml';
const protobuf = 'application/vnd.kubernetes.protobuf';
const unrecognized = (kind: string, why: string): string =>
  `400 BadRequest: the object provided is unrecognized (must be of type ${kind}): ${why}`;
const parse = "couldn't get version/kind; json parse error: ";
const struct = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;

// Texts of the real server.
const errors: [expected: Expected, contentType: string, body: string, error: string][] = [
  [configMap, json, '', unrecognized('ConfigMap', `${parse}unexpected end of JSON input (<empty>)`)],
  [configMap, json, ' ', unrecognized('ConfigMap', `${parse}unexpected end of JSON input (20)`)],
  [
    configMap,
    json,
    '[]',
    unrecognized('ConfigMap', `${parse}json: cannot unmarshal array into Go value of type ${struct} (5b5d)`),
  ],
  [
    configMap,
    json,
    '"x"',
    unrecognized('ConfigMap', `${parse}json: cannot unmarshal string into Go value of type ${struct} (227822)`),
  ],
  [
    configMap,
    json,
    '{"kind":1,"apiVersion":"v1"}',
    unrecognized(
      'ConfigMap',
      `${parse}json: cannot unmarshal number into Go struct field .kind of type string ({"kind":1,"apiVersion":"v1"})`,
    ),
  ],
  [
    configMap,
    json,
    '{"apiVersion":"a/b/c","kind":"ConfigMap"}',
    unrecognized('ConfigMap', 'unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c","kind":" ...)'),
  ],
  [
    configMap,
    json,
    '{"apiVersion":"v1","kind":"Nope"}',
    '400 BadRequest: Nope in version "v1" cannot be handled as a ConfigMap: no kind "Nope" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
  ],
  [
    configMap,
    json,
    '{"apiVersion":"v1","kind":"Pod"}',
    '400 BadRequest: Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown conversion',
  ],
  [
    configMap,
    yaml,
    'hello',
    unrecognized('ConfigMap', `${parse}json: cannot unmarshal string into Go value of type ${struct} (68656c6c6f)`),
  ],
  [
    configMap,
    protobuf,
    'hello',
    unrecognized(
      'ConfigMap',
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (68656c6c6f)',
    ),
  ],
  [configMap, protobuf, '', unrecognized('ConfigMap', 'empty data (<empty>)')],
  [configMap, protobuf, 'k8s\0', unrecognized('ConfigMap', 'empty body (6b387300)')],
  [widget, json, '{}', unrecognized('Widget', "Object 'Kind' is missing in '{}' ({})")],
  [
    widget,
    json,
    '{"apiVersion":"v1","kind":"ConfigMap"}',
    '400 BadRequest: the API version in the data (v1) does not match the expected API version (example.com/v1)',
  ],
  [
    widget,
    json,
    '{"apiVersion":"example.com/v1","kind":"Widget","spec":1e400}',
    '400 BadRequest: Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal number 1e400 into Go value of type float64',
  ],
  [
    widget,
    json,
    '{"apiVersion":"example.com/v1","kind":"Widget","spec":9007199254740993}',
    '400 BadRequest: Widget in version "v1" cannot be handled as a Widget: this server cannot keep the integer 9007199254740993 exactly',
  ],
];

test('errors in a body have the messages of the real server', () => {
  for (const [expected, contentType, body, error] of errors) {
    assert.equal(
      errorOf(() => decodeObject(Buffer.from(body), contentType, expected)),
      error,
      body,
    );
  }
});

test('excessive nesting is refused', () => {
  const bomb = `{"apiVersion":"v1","kind":"ConfigMap","x":${'['.repeat(10_001)}`;
  assert.equal(
    errorOf(() => decodeObject(Buffer.from(bomb), json, configMap)),
    unrecognized('ConfigMap', `${parse}invalid character '[' exceeded max depth ({"apiVersion":"v1","kind":"Con ...)`),
  );
});

test('only the media types of Kubernetes are accepted, with any parameters and in any case; none means JSON', () => {
  const refusal =
    '415 UnsupportedMediaType: the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf';
  for (const type of [
    'text/plain',
    'garbage',
    'application/xml',
    'application/merge-patch+json',
    '__proto__/x',
    'constructor',
  ]) {
    assert.equal(
      errorOf(() => decodeBody(Buffer.from('{}'), type)),
      refusal,
      type,
    );
  }
  for (const type of [
    undefined,
    '',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json;',
    yaml,
  ]) {
    assert.deepEqual(decodeBody(Buffer.from('{"a":1}'), type).value, { a: 1 }, String(type));
  }
});

test('a built-in object may omit its kind, and null is an object without fields', () => {
  for (const body of ['{}', 'null', '{"kind":"ConfigMap"}', '{"apiVersion":"v1"}']) {
    assert.deepEqual(
      decodeObject(Buffer.from(body), json, configMap).object,
      { apiVersion: 'v1', kind: 'ConfigMap' },
      body,
    );
  }
  assert.deepEqual(decodeObject(Buffer.from(''), yaml, configMap).object, { apiVersion: 'v1', kind: 'ConfigMap' });
});

test('a custom resource of another kind in its group is left to validation', () => {
  const body = '{"apiVersion":"example.com/v1","kind":"Other"}';
  assert.equal(decodeObject(Buffer.from(body), json, widget).object.kind, 'Other');
});

test('a custom resource in protobuf is refused', () => {
  assert.equal(
    errorOf(() => decodeObject(Buffer.from('k8s\0xx'), protobuf, widget)),
    '415 UnsupportedMediaType: the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
  );
});

test('invalid UTF-8 becomes U+FFFD in JSON and is an error in YAML', () => {
  const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
  assert.deepEqual(decodeBody(bytes, json).value, { a: '\ufffd\ufffd' });
  assert.equal(
    errorOf(() => decodeBody(bytes, yaml)),
    '400 BadRequest: yaml: invalid leading UTF-8 octet',
  );
});

test('delete options may be missing, partial and of any group, but of no other kind', () => {
  assert.deepEqual(decodeDeleteOptions(Buffer.from(''), json), {});
  assert.deepEqual(
    decodeDeleteOptions(Buffer.from('{"kind":"DeleteOptions","apiVersion":"apps/v1","gracePeriodSeconds":0}'), json),
    {
      kind: 'DeleteOptions',
      apiVersion: 'apps/v1',
      gracePeriodSeconds: 0,
    },
  );
  assert.equal(
    errorOf(() => decodeDeleteOptions(Buffer.from('{"kind":"Pod","apiVersion":"v1"}'), json)),
    '400 BadRequest: no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
  );
  assert.equal(
    errorOf(() => decodeDeleteOptions(Buffer.from('{'), json)),
    "400 BadRequest: couldn't get version/kind; json parse error: unexpected end of JSON input",
  );
});

test('for any bytes of any type, decoding throws only ApiError', () => {
  const prefixes = ['', '{', '[', 'k8s\0', 'k8s\0\x0a', '{"kind":', 'a: '].map((text) => Buffer.from(text));
  fc.assert(
    fc.property(
      fc.constantFrom(...prefixes),
      fc.uint8Array({ maxLength: 80 }),
      fc.constantFrom(json, yaml, protobuf, undefined),
      fc.constantFrom(configMap, widget),
      (prefix, bytes, type, expected) => {
        errorOf(() => decodeObject(Buffer.concat([prefix, bytes]), type, expected));
      },
    ),
    { numRuns: 3000 },
  );
});

const outcome = (type: PatchBody, text: string): unknown => {
  try {
    return decodePatch(Buffer.from(text), type).value;
  } catch (error) {
    assert.ok(error instanceof ApiError, `${String(error)} is no ApiError`);
    return `${error.code} ${error.message}`;
  }
};

const table: [type: PatchBody, body: string, outcome: unknown][] = [
  ['merge', '{"a":null}', { a: null }],
  ['merge', '{', '400 error decoding patch: unexpected end of JSON input'],
  ['merge', '', '400 error decoding patch: unexpected end of JSON input'],
  ['merge', 'null', '400 Invalid JSON Patch'],
  [
    'merge',
    '[]',
    '400 error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
  ],
  ['strategic', '{', '400 unexpected end of JSON input'],
  ['strategic', 'null', {}],
  ['strategic', '1', '400 json: cannot unmarshal number into Go value of type map[string]interface {}'],
  ['json', '[{"op":"remove","path":"/a"}]', [{ op: 'remove', path: '/a' }]],
  ['json', 'null', []],
  [
    'json',
    '{}',
    '400 error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
  ],
  [
    'json',
    'true',
    '400 error decoding patch: json: cannot unmarshal bool into Go value of type []handlers.jsonPatchOp',
  ],
  ['apply', 'a: 1', { a: 1 }],
  ['apply', '', {}],
  [
    'apply',
    '- a',
    '400 error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}',
  ],
  [
    'merge',
    '{"a":9007199254740993}',
    '400 error decoding patch: this server cannot keep the integer 9007199254740993 exactly',
  ],
];

test('patches are decoded and refused as on the real server', () => {
  for (const [type, body, expected] of table) assert.deepEqual(outcome(type, body), expected, `${type} ${body}`);
  assert.match(String(outcome('apply', 'a: [')), /^400 error decoding YAML: error converting YAML to JSON: yaml: /);
});

test('duplicate keys are reported', () => {
  assert.deepEqual(decodePatch(Buffer.from('{"a":{"b":1,"b":2}}'), 'merge').duplicates, ['duplicate field "a.b"']);
});

test('for any bytes, decoding a patch throws only ApiError', () => {
  const type = fc.constantFrom<PatchBody>('json', 'merge', 'strategic', 'apply');
  fc.assert(
    fc.property(
      type,
      fc.uint8Array({ maxLength: 60 }),
      (kind, bytes) => void outcome(kind, Buffer.from(bytes).toString('latin1')),
    ),
  );
});
