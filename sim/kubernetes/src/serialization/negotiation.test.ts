import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../errors/api-error.ts';
import { negotiate, type NegotiateOptions, parseAccept } from './negotiation.ts';

const outcome = (accept: string | undefined, options?: NegotiateOptions): string => {
  try {
    const { as, list, apiVersion, format, pretty } = negotiate(accept, options);
    return [as, list ? 'list' : '', apiVersion, format, pretty ? 'pretty' : ''].filter((part) => part !== '').join(' ');
  } catch (error) {
    assert.ok(error instanceof ApiError, `${String(error)} is no ApiError`);
    return `${error.code} ${error.message}`;
  }
};

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const all = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
const watches = 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch';

const cases: [accept: string | undefined, outcome: string][] = [
  [undefined, 'object json'],
  ['', 'object json'],
  ['*/*', 'object json'],
  [
    '*',
    '406 406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  ],
  ['application/json', 'object json'],
  ['application/yaml', 'object yaml'],
  ['application/json;q=0.1,application/yaml;q=0.9', 'object yaml'],
  ['application/json;q=0', 'object json'],
  ['application/json;charset=utf-8;pretty=1', 'object json pretty'],
  ['application/json;stream=watch', 'object json'],
  ['application/json;stream=other', `406 only the following media types are accepted: ${all}`],
  [table, 'table meta.k8s.io/v1 json'],
  ['application/json;as=Table;v=v1beta1;g=meta.k8s.io', 'table meta.k8s.io/v1beta1 json'],
  ['application/yaml;as=Table;v=v1;g=meta.k8s.io', 'table meta.k8s.io/v1 yaml'],
  ['*/*;as=Table;v=v1;g=meta.k8s.io', 'table meta.k8s.io/v1 json'],
  [`application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,${table}`, 'table meta.k8s.io/v1 json'],
  [`${table},application/json`, 'table meta.k8s.io/v1 json'],
  ['application/json;as=Table;v=v2;g=meta.k8s.io,application/json', 'object json'],
  ['application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', 'partial meta.k8s.io/v1 json'],
  ['application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', 'partial list meta.k8s.io/v1 json'],
  ['application/json;as=Foo;v=v1;g=meta.k8s.io', `406 only the following media types are accepted: ${all}`],
  ['application/json;as=Table', `406 only the following media types are accepted: ${all}`],
  ['application/vnd.kubernetes.protobuf,application/json', 'object json'],
  [
    'application/vnd.kubernetes.protobuf',
    '406 only the following media types are accepted: application/json, application/yaml',
  ],
  ['text/html', `406 406: Not Acceptable\n\nAvailable representations: ${all}`],
  ['garbage', `406 406: Not Acceptable\n\nAvailable representations: ${all}`],
  ['application/*', `406 406: Not Acceptable\n\nAvailable representations: ${all}`],
];

test('the Accept header is evaluated as by the real server for built-in kinds', () => {
  for (const [accept, expected] of cases) assert.equal(outcome(accept), expected, String(accept));
});

test('for custom resources wildcards count, and the refusal differs', () => {
  assert.equal(outcome('application/*', { custom: true }), 'object json');
  assert.equal(outcome('*', { custom: true }), 'object json');
  assert.equal(outcome('text/html', { custom: true }), `406 only the following media types are accepted: ${all}`);
});

test('a watch is not served as YAML, and its error lists the stream types', () => {
  assert.equal(
    outcome('application/yaml', { watch: true }),
    `406 only the following media types are accepted: ${watches}`,
  );
  assert.equal(
    outcome('text/html', { watchable: true }),
    `406 406: Not Acceptable\n\nAvailable representations: ${all}, ${watches}`,
  );
  assert.equal(outcome('application/json;stream=watch', { watch: true }), 'object json');
});

test('a Table clause is skipped where no Table exists', () => {
  assert.equal(outcome(`${table},application/yaml`, { plain: true }), 'object yaml');
});

test('clauses are ordered by quality, then by precision', () => {
  const order = parseAccept('*/*, application/*, a/b;q=0.5, application/json').map(
    ({ type, subtype }) => `${type}/${subtype}`,
  );
  assert.deepEqual(order, ['application/json', 'application/*', '*/*', 'a/b']);
});

test('for any header, negotiation throws only ApiError', () => {
  const piece = fc.constantFrom(
    'application/json',
    'application',
    '/',
    ';',
    ',',
    '=',
    'as',
    'Table',
    'q',
    '*',
    ' ',
    '0.5',
    '__proto__',
    'g=meta.k8s.io',
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 15 }),
      fc.boolean(),
      (pieces, custom) => void outcome(pieces.join(''), { custom }),
    ),
  );
});
