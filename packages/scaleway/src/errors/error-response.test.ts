import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { type OperationName, operations } from '../operations.ts';
import { secretKey } from '../testing/test-pool.ts';
import { errorFromResponse, errorKind, type HTTPResponse, retryAfterMs } from './error-response.ts';
import { createRedaction } from './redaction.ts';
import type { ScalewayErrorKind } from './scaleway-error.ts';

test('the error kind follows the type of the body, else the status', () => {
  const table: [status: number, type: string | undefined, kind: ScalewayErrorKind][] = [
    [400, undefined, 'invalid'],
    [400, 'invalid_arguments', 'invalid'],
    [401, undefined, 'unauthorized'],
    [401, 'denied_authentication', 'unauthorized'],
    [403, 'denied_authentication', 'unauthorized'],
    [403, undefined, 'denied'],
    [403, 'permissions_denied', 'denied'],
    [403, 'quotas_exceeded', 'invalid'],
    [404, undefined, 'not found'],
    [404, 'not_found', 'not found'],
    [404, 'unknown_resource', 'not found'],
    [408, undefined, 'unavailable'],
    [409, undefined, 'invalid'],
    [409, 'transient_state', 'transient state'],
    [400, 'transient_state', 'transient state'],
    [409, 'already_exists', 'invalid'],
    [410, 'expired', 'not found'],
    [410, undefined, 'not found'],
    [412, 'precondition_failed', 'invalid'],
    [423, undefined, 'transient state'],
    [403, 'locked', 'transient state'],
    [418, 'a type of next year', 'invalid'],
    [429, undefined, 'rate limited'],
    [429, 'too_many_requests', 'rate limited'],
    [500, undefined, 'unavailable'],
    [500, 'not_found', 'unavailable'],
    [503, 'transient_state', 'unavailable'],
    [599, undefined, 'unavailable'],
    [301, undefined, 'garbled'],
    [304, 'not_found', 'garbled'],
    [101, undefined, 'garbled'],
    [600, undefined, 'garbled'],
  ];
  for (const [status, type, kind] of table) assert.equal(errorKind(status, type), kind, `${status} ${type}`);
});

test('names of Object.prototype members are not error types', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 999 }),
      fc.oneof(fc.string(), fc.constantFrom('constructor')),
      (status, type) => assert.equal(typeof errorKind(status, type), 'string'),
    ),
  );
});

test('the reset time is read from the body, else from Retry-After, within bounds', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const table: [
    what: string,
    body: { reset_seconds?: number; reset_at?: string },
    header: string | null,
    ms: number,
  ][] = [
    ['seconds', { reset_seconds: 7 }, null, 7000],
    ['none left', { reset_seconds: 0 }, null, 0],
    ['a time', { reset_at: '2026-01-01T00:00:09Z' }, null, 9000],
    ['seconds before a time', { reset_seconds: 7, reset_at: '2026-01-01T00:00:09Z' }, null, 7000],
    ['a time that is over', { reset_at: '2025-12-31T23:59:00Z' }, null, 0],
    ['an invalid time', { reset_at: 'soon' }, '4', 4000],
    ['a header with seconds', {}, '3', 3000],
    ['a header with a date', {}, 'Thu, 01 Jan 2026 00:00:05 GMT', 5000],
    ['an invalid header', {}, 'soon', 1000],
    ['an empty header', {}, '', 1000],
    ['nothing', {}, null, 1000],
    ['the body before the header', { reset_seconds: 2 }, '3', 2000],
    ['the year 9999', { reset_at: '9999-01-01T00:00:00Z' }, null, 3_600_000],
    ['more than there are numbers', { reset_seconds: Number.POSITIVE_INFINITY }, null, 3_600_000],
  ];
  for (const [what, body, header, ms] of table) assert.equal(retryAfterMs(body, header, now), ms, what);
});

const refuse = (
  refusal: Partial<Omit<HTTPResponse, 'text'>> & { body?: unknown },
  operation: OperationName = 'reinstall',
) =>
  errorFromResponse(
    {
      status: refusal.status ?? 400,
      text: typeof refusal.body === 'string' ? refusal.body : JSON.stringify(refusal.body),
      retryAfter: refusal.retryAfter ?? null,
    },
    { what: 'reinstall server 1', operation, now: 0, redaction: createRedaction(secretKey) },
  );

test('a 403 names the permission set of the operation that was denied', () => {
  for (const [operation, { permissionSet }] of Object.entries(operations)) {
    const details = [{ action: 'write', resource: 'apple_silicon_server' }];
    const error = refuse({ status: 403, body: { type: 'permissions_denied', details } }, operation as OperationName);
    assert.equal(error.kind, 'denied');
    assert.match(error.message, new RegExp(`permission set ${permissionSet} .*write apple_silicon_server`));
  }
  assert.equal(operations.listKeys.permissionSet, 'SSHKeysFullAccess');
  assert.equal(operations.reinstall.permissionSet, 'AppleSiliconFullAccess');
});

test('a transient_state error has the state, as only one of them means a wipe', () => {
  const body = { type: 'transient_state', resource: 'server', resource_id: '1', current_state: 'rebooting' };
  assert.equal(refuse({ status: 409, body }).state, 'rebooting');
  assert.match(refuse({ status: 409, body }).message, /did not reinstall server 1: its state is rebooting/);
  assert.equal(refuse({ status: 409, body: { type: 'transient_state' } }).state, 'unknown_status');
  assert.equal(refuse({ status: 403, body: { type: 'locked', resource: 'server' } }).state, 'locked');
  assert.equal(refuse({ status: 404, body: { current_state: 'ready' } }).state, undefined);
});

test('an error message is one line, however long it is', () => {
  const error = refuse({ body: { message: `a\n\tb\u0000c ${'x'.repeat(1000)}` } });
  assert.match(error.message, /HTTP 400: a b c x+…\)$/);
  assert(error.message.length < 500);
  const invalid = {
    type: 'invalid_arguments',
    details: [{ argument_name: 'os_id', reason: 'unknown', help_message: 'no' }],
  };
  assert.match(refuse({ body: invalid }).message, /os_id unknown no/);
  assert.match(refuse({ status: 502, body: '<html>Bad gateway</html>' }).message, /failure of its own.* \(HTTP 502\)$/);
});

test('an unreadable error body is ignored', () => {
  const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
  for (const body of ['', 'null', '7', '[]', '"x"', '{', nested, deep, '{"type":7,"details":{},"message":[]}']) {
    assert.equal(refuse({ status: 404, body }).kind, 'not found', body.slice(0, 40));
  }
});

test('secrets quoted in an error body are redacted', () => {
  const body = {
    message: `cannot reinstall with X-Auth-Token ${secretKey}, password sudo-s3cret or vnc-s3cret, see vnc://m1:other-s3cret@1.2.3.4`,
    current_state: `password is sudo-s3cret`,
    type: 'transient_state',
    server: { sudo_password: 'sudo-s3cret', vnc_url: 'vnc://m1:vnc-s3cret@198.18.0.1:5900' },
  };
  const error = refuse({ status: 409, body });
  for (const shown of [error.message, error.stack, JSON.stringify(error), inspect(error, { depth: 10 })]) {
    assert.doesNotMatch(shown ?? '', /s3cret/);
    assert(!shown?.includes(secretKey));
  }
  assert.match(error.message, /cannot reinstall/);
});
