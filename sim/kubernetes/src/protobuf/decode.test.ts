import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../errors/api-error.ts';
import { MalformedError } from '../serialization/json.ts';
import captured from './captured.generated.json' with { type: 'json' };
import { decodeProtobuf } from './decode.ts';

/** As much of a protobuf encoder as the tests need. */
const varint = (value: bigint): number[] =>
  value < 0x80n ? [Number(value)] : [Number(value & 0x7fn) | 0x80, ...varint(value >> 7n)];
const number = (field: number, value: bigint): number[] => [
  ...varint(BigInt(field * 8)),
  ...varint(BigInt.asUintN(64, value)),
];
const bytes = (field: number, value: readonly number[] | string): number[] => {
  const content = [...Buffer.from(value as string)];
  return [...varint(BigInt(field * 8 + 2)), ...varint(BigInt(content.length)), ...content];
};
const body = (apiVersion: string, kind: string, raw: readonly number[]): Uint8Array =>
  Uint8Array.from([
    ...Buffer.from('k8s\0'),
    ...bytes(1, [...bytes(1, apiVersion), ...bytes(2, kind)]),
    ...bytes(2, raw),
  ]);

const outcome = (input: Uint8Array): unknown => {
  try {
    return decodeProtobuf(input);
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.message}`;
    assert.ok(error instanceof MalformedError, `${String(error)} is neither an ApiError nor a MalformedError`);
    return error.message;
  }
};

for (const { from, hex, object } of captured) {
  test(`decodes a body: ${from}`, () => {
    assert.deepEqual(decodeProtobuf(Buffer.from(hex, 'hex')), object);
  });
}

test('zero is kept where it differs from a missing value, and dropped where Go always writes it', () => {
  const zeroes = body('v1', 'DeleteOptions', [...number(1, 0n), ...bytes(4, '')]);
  assert.deepEqual(decodeProtobuf(zeroes), {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    gracePeriodSeconds: 0,
    propagationPolicy: '',
  });
  const metadata = [...bytes(1, 'n'), ...bytes(2, ''), ...bytes(5, ''), ...number(7, 0n), ...bytes(8, [])];
  assert.deepEqual(decodeProtobuf(body('v1', 'ConfigMap', bytes(1, metadata))), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'n' },
  });
});

test('DeleteOptions belong to every group', () => {
  const options = body('coordination.k8s.io/v1', 'DeleteOptions', number(1, -1n));
  assert.deepEqual(decodeProtobuf(options), {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'DeleteOptions',
    gracePeriodSeconds: -1,
  });
});

test('a packed list of numbers is read like one that is not packed', () => {
  const context = (list: readonly number[]) => body('v1', 'Pod', bytes(2, bytes(14, list)));
  const loose = decodeProtobuf(context([...number(4, 1n), ...number(4, 300n)]));
  assert.deepEqual(loose['spec'], { securityContext: { supplementalGroups: [1, 300] } });
  assert.deepEqual(decodeProtobuf(context(bytes(4, [1, 0xac, 0x02]))), loose);
});

test('an envelope without a kind has the kind of the endpoint', () => {
  const bare = Uint8Array.from([...Buffer.from('k8s\0'), ...bytes(2, bytes(1, bytes(1, 'n')))]);
  assert.equal(outcome(bare), "Object 'Kind' is missing");
  assert.deepEqual(decodeProtobuf(bare, { group: '', version: 'v1', kind: 'Namespace' }), {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'n' },
  });
});

test('an unknown field is skipped, and a key named __proto__ is kept', () => {
  const unknown = [...number(999, 1n), ...bytes(1000, 'x')];
  const entry = bytes(2, [...bytes(1, '__proto__'), ...bytes(2, 'x')]);
  const { data } = decodeProtobuf(body('v1', 'ConfigMap', [...unknown, ...entry])) as unknown as { data: object };
  assert.deepEqual(Object.entries(data), [['__proto__', 'x']]);
});

const errors: [input: Uint8Array, error: string | RegExp][] = [
  [new Uint8Array(), 'empty data'],
  [Buffer.from('hello'), /^provided data does not appear to be a protobuf message, expected prefix \[107 56 115 0\]$/],
  [Buffer.from('k8s\0'), 'empty body'],
  [Buffer.from('k8s\0\x0a\xff', 'latin1'), 'unexpected EOF'],
  [body('apps/v1', 'DaemonSet', []), /^415 the body of the request is a DaemonSet of apps\/v1 in protobuf/],
  [body('v1', 'ConfigMap', [0x0a, 0x05]), 'unexpected EOF'],
  [body('v1', 'ConfigMap', [0x0b]), 'proto: illegal wireType 3'],
  [body('v1', 'ConfigMap', [0x00]), 'proto: illegal tag 0 (wire type 0)'],
  [body('v1', 'ConfigMap', Array<number>(11).fill(0xff)), 'proto: integer overflow'],
  [body('v1', 'ConfigMap', number(1, 1n)), /wrong wireType/],
  [
    body('v1', 'DeleteOptions', number(1, 2n ** 53n + 1n)),
    'this server cannot keep the integer 9007199254740993 exactly',
  ],
  [body('v1', 'ConfigMap', bytes(1, bytes(8, number(1, 10n ** 12n)))), /year outside of range/],
];

test('unreadable input is refused', () => {
  for (const [input, error] of errors) {
    const actual = String(outcome(input));
    if (typeof error === 'string') assert.equal(actual, error);
    else assert.match(actual, error);
  }
});

test('unlimited nesting is refused quickly', () => {
  // `not` of a JSONSchemaProps is a JSONSchemaProps. Built from the inside out.
  let schema: number[] = [];
  for (let level = 0; level < 3000; level++)
    schema = [...varint(BigInt(26 * 8 + 2)), ...varint(BigInt(schema.length)), ...schema];
  const version = bytes(4, bytes(1, schema));
  const definition = body('apiextensions.k8s.io/v1', 'CustomResourceDefinition', bytes(2, bytes(7, version)));
  assert.match(String(outcome(definition)), /exceeded max depth/);
});

test('a damaged body is decoded or refused', () => {
  const samples = captured.map(({ hex }) => Buffer.from(hex, 'hex'));
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(fc.constantFrom(...samples), damage, fc.nat(), (sample, changes, cut) => {
      const bytes = Buffer.from(sample);
      for (const [position, value] of changes) bytes[4 + (position % (bytes.length - 4))] = value;
      outcome(bytes);
      outcome(bytes.subarray(0, cut % bytes.length));
    }),
    { numRuns: 2000 },
  );
});
