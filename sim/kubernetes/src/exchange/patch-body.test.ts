import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../status/api-error.ts';
import { decodePatch, type PatchBody } from './patch-body.ts';

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

test('keys that occur twice are told', () => {
  assert.deepEqual(decodePatch(Buffer.from('{"a":{"b":1,"b":2}}'), 'merge').duplicates, ['duplicate field "a.b"']);
});

test('no bytes make it throw anything but an ApiError', () => {
  const type = fc.constantFrom<PatchBody>('json', 'merge', 'strategic', 'apply');
  fc.assert(
    fc.property(
      type,
      fc.uint8Array({ maxLength: 60 }),
      (kind, bytes) => void outcome(kind, Buffer.from(bytes).toString('latin1')),
    ),
  );
});
