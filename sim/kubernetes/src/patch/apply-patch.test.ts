import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../errors/api-error.ts';
import { copy, deepFreeze, type KubeObject, set } from '../object.ts';
import { applyPatch, patchTypeOf } from './apply-patch.ts';

const map: KubeObject = deepFreeze({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'm',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    finalizers: ['x/1', 'x/2'],
  },
  data: { a: '1', b: '2' },
});

const rejected = 'the server rejected our request due to an error in our request';
const refuses = (type: 'json' | 'merge', patch: unknown, code: number, message: string): void =>
  assert.throws(
    () => applyPatch(type, map, patch, undefined),
    (error) => error instanceof ApiError && error.code === code && error.message === message,
  );

const inapplicable: object[] = [
  { op: 'test', path: '/data/a', value: '2' },
  { op: 'test', path: '/data/a' },
  { op: 'test', path: '/nope/x', value: 1 },
  { op: 'test', path: '', value: {} },
  { op: 'test', path: '/metadata/finalizers/9', value: 'x' },
  { op: 'remove', path: '/data/zz' },
  { op: 'remove', path: '' },
  { op: 'remove', path: '/metadata/finalizers/-' },
  { op: 'remove', path: '/metadata/finalizers/2' },
  { op: 'add', path: '', value: {} },
  { op: 'add', path: '/data/a/b', value: '1' },
  { op: 'add', path: '/nope/b', value: '1' },
  { op: 'add', path: 'nope', value: '1' },
  { op: 'add', value: '1' },
  { op: 'add', path: '/metadata/finalizers/3', value: 'x' },
  { op: 'add', path: '/metadata/finalizers/-4', value: 'x' },
  { op: 'add', path: '/metadata/finalizers/x', value: 'x' },
  { op: 'replace', path: '/nope/x', value: '1' },
  { op: 'replace', path: '', value: '1' },
  { op: 'replace', path: '/metadata/finalizers/2', value: 'x' },
  { op: 'move', from: '/data/zz', path: '/data/y' },
  { op: 'move', path: '/data/y' },
  { op: 'move', from: '/data', path: '/data/x' },
  { op: 'copy', from: '/zz/zz', path: '/data/y' },
  { op: 'nope', path: '/data' },
  { path: '/data' },
];

for (const operation of inapplicable) {
  test(`the JSON patch ${JSON.stringify(operation)} cannot be applied`, () =>
    refuses('json', [operation], 422, rejected));
}

const malformed: [unknown, string][] = [
  [{}, 'json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
  ['x', 'json: cannot unmarshal string into Go value of type []handlers.jsonPatchOp'],
  [['x'], 'json: cannot unmarshal string into Go value of type handlers.jsonPatchOp'],
  [[{ op: 1, path: '/a' }], 'json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string'],
  [[{ op: 'add', path: true }], 'json: cannot unmarshal bool into Go struct field jsonPatchOp.path of type string'],
];

for (const [patch, message] of malformed) {
  test(`${JSON.stringify(patch)} is no JSON patch`, () =>
    refuses('json', patch, 400, `error decoding patch: ${message}`));
}

const finalizers = (...list: string[]): object => ({ metadata: { ...map.metadata, finalizers: list } });
const applicable: [unknown, object][] = [
  [null, {}],
  [[], {}],
  [[{ op: 'test', path: '/data/zz', value: null }], {}],
  [[{ op: 'test', path: '/data', value: { b: '2', a: '1' } }], {}],
  [[{ op: 'add', path: '/data/x~1y~0z', value: '3' }], { data: { a: '1', b: '2', 'x/y~z': '3' } }],
  [[{ op: 'replace', path: '/data/new', value: '3' }], { data: { a: '1', b: '2', new: '3' } }],
  [[{ op: 'remove', path: '/data/a' }], { data: { b: '2' } }],
  [[{ op: 'move', from: '/data/a', path: '/data/c' }], { data: { b: '2', c: '1' } }],
  [[{ op: 'copy', from: '/data/a', path: '/data/c' }], { data: { a: '1', b: '2', c: '1' } }],
  [[{ op: 'copy', from: '/data/zz', path: '/data/c' }], { data: { a: '1', b: '2', c: null } }],
  [[{ op: 'add', path: '/data/c' }], { data: { a: '1', b: '2', c: null } }],
  [[{ op: 'add', path: '/metadata/finalizers/0', value: 'x/0' }], finalizers('x/0', 'x/1', 'x/2')],
  [[{ op: 'add', path: '/metadata/finalizers/-', value: 'x/3' }], finalizers('x/1', 'x/2', 'x/3')],
  [[{ op: 'add', path: '/metadata/finalizers/-1', value: 'x/3' }], finalizers('x/1', 'x/2', 'x/3')],
  [[{ op: 'remove', path: '/metadata/finalizers/-1' }], finalizers('x/1')],
  [[{ op: 'replace', path: '/metadata/finalizers/01', value: 'x/9' }], finalizers('x/1', 'x/9')],
];

for (const [patch, expected] of applicable) {
  test(`the JSON patch ${JSON.stringify(patch)} is applied`, () => {
    assert.deepEqual(applyPatch('json', map, patch, undefined), { ...map, ...expected });
  });
}

test('a JSON patch has at most 10000 operations', () => {
  const operations = (count: number): object[] =>
    Array.from({ length: count }, () => ({ op: 'test', path: '/data/a', value: '1' }));
  assert.deepEqual(applyPatch('json', map, operations(10_000), undefined), map);
  refuses(
    'json',
    operations(10_001),
    413,
    'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
  );
});

test('repeated copies are refused before they fill the memory', () => {
  const doubling = Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '/data', path: `/data/x${index}` }));
  refuses('json', doubling, 422, rejected);
});

test('a JSON patch may write __proto__ without changing a prototype', () => {
  const result = applyPatch(
    'json',
    map,
    [{ op: 'add', path: '/data/__proto__', value: { polluted: true } }],
    undefined,
  );
  assert.deepEqual(Object.keys(Object(result['data'])), ['a', 'b', '__proto__']);
  assert.equal(Reflect.get({}, 'polluted'), undefined);
  refuses('json', [{ op: 'add', path: '/data/__proto__/polluted', value: true }], 422, rejected);
});

test('a JSON patch whose result is no object is refused with that result', () => {
  assert.throws(
    () => applyPatch('json', map, [{ op: 'replace', path: '', value: [] }], undefined),
    (error) =>
      error instanceof ApiError &&
      error.code === 422 &&
      error.message.startsWith(
        ` "" is invalid: patch: Invalid value: "[]": couldn't get version/kind; json parse error`,
      ),
  );
});

const merges: [object, object][] = [
  [{ data: null }, { data: undefined }],
  [{ data: { a: null, c: '3' } }, { data: { b: '2', c: '3' } }],
  [{ data: { n: null } }, {}],
  [{ extra: { a: null, b: [{ c: null, d: 1 }, null] } }, { extra: { b: [{ d: 1 }, null] } }],
  [{ data: [{ c: null }] }, { data: [{ c: null }] }],
  [{ metadata: { finalizers: ['x/9'] } }, finalizers('x/9')],
];

for (const [patch, expected] of merges) {
  test(`the merge patch ${JSON.stringify(patch)} is applied`, () => {
    const result = Object.fromEntries(
      Object.entries({ ...map, ...expected }).filter(([, field]) => field !== undefined),
    );
    assert.deepEqual(applyPatch('merge', map, patch, undefined), result);
  });
}

test('a merge patch is an object', () => {
  refuses('merge', null, 400, 'Invalid JSON Patch');
  refuses(
    'merge',
    [1],
    400,
    'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
  );
});

test('a patch that removes the metadata leaves empty metadata, which fails the name check', () => {
  assert.deepEqual(applyPatch('merge', map, { metadata: null }, undefined).metadata, {});
});

test('metadata that is no object is refused', () => {
  assert.throws(
    () => applyPatch('merge', map, { metadata: 3 }, undefined),
    /: json: cannot unmarshal number into Go struct field ConfigMap\.metadata of type v1\.ObjectMeta$/,
  );
});

test('a merge patch with __proto__ changes no prototype', () => {
  const patch: Record<string, unknown> = {};
  set(patch, '__proto__', { polluted: true });
  const result = applyPatch('merge', map, { data: patch }, undefined);
  assert.ok(Object.hasOwn(Object(result['data']), '__proto__'));
  assert.equal(Reflect.get(Object(result['data']), 'polluted'), undefined);
});

test('a patch mutates no argument, shares nothing with them, and throws only ApiError', () => {
  const json = fc.jsonValue({ maxDepth: 3 }).map((value) => copy(value));
  fc.assert(
    fc.property(fc.constantFrom('json' as const, 'merge' as const, 'strategic' as const), json, (type, value) => {
      const patch = deepFreeze(type === 'json' ? [{ op: 'add', path: '/data/x', value }] : { data: { x: value } });
      try {
        const result = applyPatch(type, map, patch, { type: 'object' });
        assert.notEqual(result.metadata, map.metadata);
        Object.assign(Object(result['data']), { a: 'changed' });
      } catch (error) {
        assert.ok(error instanceof ApiError);
      }
    }),
    { numRuns: 200 },
  );
});

const served: [string, string][] = [
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/merge-patch+json; charset=utf-8', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
];

for (const [contentType, type] of served) {
  test(`${contentType} is a patch of type ${type}`, () => assert.equal(patchTypeOf(contentType), type));
}

const refusal = (contentType: string, custom: boolean): ApiError => {
  try {
    patchTypeOf(contentType, custom);
  } catch (error) {
    assert.ok(error instanceof ApiError);
    assert.equal(error.code, 415);
    assert.equal(error.status.reason, 'UnsupportedMediaType');
    return error;
  }
  throw new assert.AssertionError({ message: `${contentType} was accepted` });
};

for (const contentType of ['', 'application/json', 'text/plain', 'Application/merge-patch+json', 'toString']) {
  test(`${JSON.stringify(contentType)} is refused for built-in kinds with the message of the real server`, () => {
    const { status } = refusal(contentType, false);
    assert.deepEqual([status.message, status.details], ['415: Unsupported Media Type', {}]);
  });
}

for (const contentType of ['application/json', 'application/strategic-merge-patch+json']) {
  test(`${contentType} is refused for custom resources with the message of the real server`, () => {
    assert.equal(
      refusal(contentType, true).message,
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    );
  });
}

for (const contentType of ['application/apply-patch+yaml', 'application/apply-patch+cbor']) {
  test(`${contentType} is refused with an alternative`, () => {
    assert.match(
      refusal(contentType, false).message,
      /does not serve server-side apply .*: use "kubectl apply" without --server-side, or a real cluster$/,
    );
  });
}
