import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { type OperationName, operations } from '../operations.ts';
import { secretKey } from '../testing/test-pool.ts';
import { createRedaction } from './redaction.ts';
import { type Refusal, refused } from './refusal.ts';

const refuse = (refusal: Partial<Omit<Refusal, 'text'>> & { body?: unknown }, operation: OperationName = 'reinstall') =>
  refused(
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

test('a transient state tells the state, as only one of them means a wipe', () => {
  const body = { type: 'transient_state', resource: 'server', resource_id: '1', current_state: 'rebooting' };
  assert.equal(refuse({ status: 409, body }).state, 'rebooting');
  assert.match(refuse({ status: 409, body }).message, /did not reinstall server 1: its state is rebooting/);
  assert.equal(refuse({ status: 409, body: { type: 'transient_state' } }).state, 'unknown_status');
  assert.equal(refuse({ status: 403, body: { type: 'locked', resource: 'server' } }).state, 'locked');
  assert.equal(refuse({ status: 404, body: { current_state: 'ready' } }).state, undefined);
});

test('a refusal is told in one line, however long and odd it is', () => {
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

test('bodies that are something else say nothing, and break nothing', () => {
  const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
  for (const body of ['', 'null', '7', '[]', '"x"', '{', nested, deep, '{"type":7,"details":{},"message":[]}']) {
    assert.equal(refuse({ status: 404, body }).kind, 'not found', body.slice(0, 40));
  }
});

test('what a refusal quotes of secrets is taken out', () => {
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
