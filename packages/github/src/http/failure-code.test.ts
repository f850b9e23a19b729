import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureCode } from './failure-code.ts';

test('the reason of a failure is the code that lies below, and nothing else of it', () => {
  const low = Object.assign(new Error('getaddrinfo secret'), { code: 'ENOTFOUND' });
  assert.equal(failureCode(low), 'ENOTFOUND');
  assert.equal(failureCode(new TypeError('fetch failed', { cause: low })), 'ENOTFOUND');
  assert.equal(failureCode(new Error('x', { cause: new AggregateError([low]) })), 'ENOTFOUND');
  for (const other of [new Error('ghs_secret'), { code: 'lower ghs_secret' }, undefined, 'text']) {
    assert.equal(failureCode(other), 'the connection failed');
  }
  const round: { cause?: unknown } = {};
  round.cause = round;
  assert.equal(failureCode(round), 'the connection failed');
});
