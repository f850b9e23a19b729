import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ScalewayErrorKind } from '../scaleway-error.ts';
import { errorKind } from './error-kind.ts';

test('a refusal is what its type says, else what its status says', () => {
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

test('names of object members are no types', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 999 }),
      fc.oneof(fc.string(), fc.constantFrom('constructor')),
      (status, type) => assert.equal(typeof errorKind(status, type), 'string'),
    ),
  );
});
