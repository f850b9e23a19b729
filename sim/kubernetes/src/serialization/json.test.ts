import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { set } from '../object.ts';
import { MalformedError, maxDepth, parseJson } from './json.ts';

const malformed = (text: string): string => {
  try {
    parseJson(text);
  } catch (error) {
    assert.ok(error instanceof MalformedError, `${String(error)} is no MalformedError`);
    return error.message;
  }
  return 'nothing is wrong';
};

// Texts of the real server.
const errors: [text: string, error: string][] = [
  ['', 'unexpected end of JSON input'],
  [' ', 'unexpected end of JSON input'],
  ['{', 'unexpected end of JSON input'],
  ['{"a":}', "invalid character '}' looking for beginning of value"],
  ['{"a":1}}', "invalid character '}' after top-level value"],
  ['hello', "invalid character 'h' looking for beginning of value"],
  ["{'a':1}", "invalid character '\\'' looking for beginning of object key string"],
  ['{"a":01}', "invalid character '1' after object key:value pair"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['[1 2]', "invalid character '2' after array element"],
  ['[1,]', "invalid character ']' looking for beginning of value"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['"a\nb"', "invalid character '\\n' in string literal"],
  ['"\\x"', "invalid character 'x' in string escape code"],
  ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
  ['-x', "invalid character 'x' in numeric literal"],
  ['1.x', "invalid character 'x' after decimal point in numeric literal"],
  ['1ex', "invalid character 'x' in exponent of numeric literal"],
  ['trux', "invalid character 'x' in literal true (expecting 'e')"],
  ['nul', 'unexpected end of JSON input'],
];

test('errors have the messages of Go', () => {
  for (const [text, error] of errors) assert.equal(malformed(text), error, text);
});

test('nesting beyond the limit is refused at the exceeding bracket, quickly', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  assert.equal(malformed(nested(maxDepth)), 'nothing is wrong');
  assert.equal(malformed(nested(maxDepth + 1)), "invalid character '[' exceeded max depth");
  assert.equal(malformed('{"a":'.repeat(1_000_000)), "invalid character '{' exceeded max depth");
});

test('duplicate keys are reported once by their path, and the last one counts', () => {
  const { value, duplicates } = parseJson(
    '{"spec":{"x":1,"x":2,"x":3,"l":[{"a":1},{"a":1,"a":2}]},"kind":"A","kind":"B","a\\"b":1,"a\\"b":2}',
  );
  assert.deepEqual(duplicates, [
    'duplicate field "spec.x"',
    'duplicate field "spec.l[1].a"',
    'duplicate field "kind"',
    'duplicate field "a\\"b"',
  ]);
  assert.deepEqual(value, { spec: { x: 3, l: [{ a: 1 }, { a: 2 }] }, kind: 'B', 'a"b': 2 });
});

test('__proto__ is a key like any other', () => {
  const { value, duplicates } = parseJson('{"__proto__":{"polluted":true},"toString":1}');
  assert.deepEqual(Object.keys(value as object), ['__proto__', 'toString']);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.deepEqual(duplicates, []);
  assert.deepEqual(parseJson('{"__proto__":1,"__proto__":2}').duplicates, ['duplicate field "__proto__"']);
});

test('integers that a double would round are reported; numbers that Go reads as a double are not', () => {
  const exact = 'this server cannot keep the integer 9007199254740993 exactly';
  assert.equal(parseJson('{"a":[9007199254740993]}').problem, exact);
  assert.equal(
    parseJson('-9223372036854775807').problem,
    'this server cannot keep the integer -9223372036854775807 exactly',
  );
  assert.equal(parseJson('1e400').problem, 'json: cannot unmarshal number 1e400 into Go value of type float64');
  for (const fine of [
    '9007199254740991',
    '9007199254740994',
    '99999999999999999999',
    '9007199254740993.0',
    '1e30',
    '0.1',
  ]) {
    assert.equal(parseJson(fine).problem, undefined, fine);
  }
});

test('an unpaired surrogate becomes U+FFFD, and minus zero becomes zero', () => {
  assert.equal(parseJson('"a\\ud800b"').value, 'a\ufffdb');
  assert.equal(parseJson('"\\ud83d\\ude42"').value, '🙂');
  assert.ok(Object.is(parseJson('-0').value, 0));
});

/** A value as JSON represents it: without negative zero. JSON.parse cannot be used here, see docs/decisions. */
const asJson = (value: unknown): unknown => {
  if (value === 0) return 0;
  if (Array.isArray(value)) return value.map(asJson);
  if (typeof value !== 'object' || value === null) return value;
  const result: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) set(result, key, asJson(field));
  return result;
};

test('the output of JSON.stringify is read unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
      const parsed = parseJson(JSON.stringify(value, undefined, space));
      if (parsed.problem === undefined) assert.deepEqual(parsed.value, asJson(value));
    }),
  );
});

test('a key is read as written, whatever keys were read before', () => {
  assert.deepEqual(parseJson('{"q":0,"\\\\":1}').value, { q: 0, '\\': 1 });
  assert.deepEqual(parseJson('{"q":0,"\\"":1}').value, { q: 0, '"': 1 });
});

test('exactly the input that JSON.parse refuses is refused', () => {
  const piece = fc.constantFrom(
    ...Array.from('{}[]:,"\\-+.eE019 \n\tatrufalsenull/\u0000é🙂'),
    '"a"',
    'true',
    'null',
    '1.5',
    '\\u00e9',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const text = pieces.join('');
      let valid = true;
      try {
        JSON.parse(text);
      } catch {
        valid = false;
      }
      assert.equal(malformed(text) === 'nothing is wrong', valid, text);
    }),
    { numRuns: 3000 },
  );
});
