import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fromResponse, fromStatus } from './from-status.ts';
import type { KubeErrorReason } from './kube-error.ts';

const status = (code: number, reason: string, more: object = {}): string =>
  JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: 'because', ...more });

const answer = (code: number, body: string, headers: Record<string, string> = {}) =>
  fromResponse({ what: 'get pods a/b', code, headers, body, now: Date.parse('2026-01-01T00:00:00Z') });

const table: readonly [code: number, reason: string, expected: KubeErrorReason][] = [
  [400, 'BadRequest', 'badRequest'],
  [401, 'Unauthorized', 'unauthorized'],
  [403, 'Forbidden', 'forbidden'],
  [404, 'NotFound', 'notFound'],
  [405, 'MethodNotAllowed', 'badRequest'],
  [406, 'NotAcceptable', 'badRequest'],
  [409, 'Conflict', 'conflict'],
  [409, 'AlreadyExists', 'alreadyExists'],
  [410, 'Expired', 'expired'],
  [410, 'Gone', 'expired'],
  [413, 'RequestEntityTooLarge', 'badRequest'],
  [415, 'UnsupportedMediaType', 'badRequest'],
  [422, 'Invalid', 'invalid'],
  [429, 'TooManyRequests', 'tooManyRequests'],
  [500, 'InternalError', 'serverError'],
  [500, 'ServerTimeout', 'timeout'],
  [500, '', 'serverError'],
  [501, 'NotImplemented', 'serverError'],
  [503, 'ServiceUnavailable', 'serverError'],
  [504, 'Timeout', 'timeout'],
];

test('every error response of a Kubernetes API maps to a reason', () => {
  for (const [code, reason, expected] of table) {
    const error = answer(code, status(code, reason));
    assert.deepEqual([error.reason, error.code, error.message], [expected, code, 'Cannot get pods a/b: because']);
  }
});

test('inside a watch, the reason is that of the Status, with or without a code', () => {
  for (const [code, reason, expected] of table) {
    assert.equal(fromStatus('watch pods', JSON.parse(status(code, reason))).reason, expected);
  }
  const without = { kind: 'Status', reason: 'Expired', message: 'too old' };
  assert.deepEqual(
    [fromStatus('watch pods', without).reason, fromStatus('watch pods', without).code],
    ['expired', 410],
  );
  assert.equal(fromStatus('watch pods', { kind: 'Status' }).reason, 'serverError');
  for (const garbage of [undefined, null, 7, 'x', [], {}, { kind: 'Pod' }]) {
    assert.equal(fromStatus('watch pods', garbage).reason, 'malformed');
  }
});

test('the HTTP code decides, whatever the body says', () => {
  assert.equal(answer(500, status(404, 'NotFound')).reason, 'serverError');
  assert.equal(answer(409, status(404, 'NotFound')).reason, 'conflict');
  assert.equal(answer(404, status(409, 'AlreadyExists')).reason, 'notFound');
});

test('a 404 counts as notFound only if an API server can have sent it', () => {
  assert.equal(answer(404, '404 page not found\n').reason, 'notFound');
  for (const body of ['<html>default backend - 404</html>', '', '{}', 'null', '{"kind":"Pod"}']) {
    const error = answer(404, body);
    assert.equal(error.reason, 'malformed', body);
    assert.match(error.message, /check the server address/);
  }
});

test('answers without a Status are classified by their code, and shown in one short line', () => {
  assert.equal(answer(503, 'no backend\r\n\u001b[31m').message, 'Cannot get pods a/b: HTTP 503: no backend [31m');
  assert.ok(answer(502, 'x'.repeat(10_000)).message.length < 300);
  assert.equal(answer(401, '').reason, 'unauthorized');
  assert.equal(answer(418, '').reason, 'badRequest');
  assert.equal(answer(302, 'Moved').reason, 'malformed');
});

test('valid causes of a Status are kept', () => {
  const causes = [{ reason: 'FieldValueInvalid', message: 'no', field: 'a.b' }, 7, null, { field: 7, message: 'only' }];
  assert.deepEqual(answer(422, status(422, 'Invalid', { details: { causes } })).causes, [
    causes[0],
    { reason: undefined, message: 'only', field: undefined },
  ]);
  assert.deepEqual(answer(422, status(422, 'Invalid', { details: { causes: 'x' } })).causes, []);
});

test('retryAfterMs comes from the Status, else from the header, and is capped', () => {
  const details = (retryAfterSeconds: unknown): string =>
    status(429, 'TooManyRequests', { details: { retryAfterSeconds } });
  const later = 'Thu, 01 Jan 2026 00:00:05 GMT';
  assert.equal(answer(429, details(3), { 'retry-after': '9' }).retryAfterMs, 3000);
  assert.equal(answer(429, details('3'), { 'retry-after': '9' }).retryAfterMs, 9000);
  assert.equal(answer(429, '', { 'retry-after': later }).retryAfterMs, 5000);
  assert.equal(answer(429, '', { 'retry-after': 'soon' }).retryAfterMs, undefined);
  assert.equal(answer(429, details(-1)).retryAfterMs, undefined);
  assert.equal(answer(429, details(1e9)).retryAfterMs, 600_000);
  assert.equal(answer(503, '', { 'retry-after': '2' }).retryAfterMs, 2000);
});

test('any body is accepted', () => {
  fc.assert(
    fc.property(fc.integer({ min: 300, max: 599 }), fc.oneof(fc.string(), fc.json()), (code, body) => {
      const error = answer(code, body);
      assert.equal(error.code, code);
      assert.ok(error.message.startsWith('Cannot get pods a/b: '));
    }),
  );
  fc.assert(
    fc.property(fc.anything(), (details) => {
      fromStatus('watch pods', { kind: 'Status', details, code: details, message: details });
    }),
  );
});
