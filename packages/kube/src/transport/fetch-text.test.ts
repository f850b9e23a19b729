import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkErrorCode } from './fetch-text.ts';

test('a network failure is reported by the code of its cause only', () => {
  const low = Object.assign(new Error('getaddrinfo secret'), { code: 'ENOTFOUND' });
  assert.equal(networkErrorCode(low), 'ENOTFOUND');
  assert.equal(networkErrorCode(new TypeError('fetch failed', { cause: low })), 'ENOTFOUND');
  assert.equal(networkErrorCode(new Error('x', { cause: new AggregateError([low]) })), 'ENOTFOUND');
  for (const other of [new Error('ghs_secret'), { code: 'lower ghs_secret' }, undefined, 'text']) {
    assert.equal(networkErrorCode(other), 'the connection failed');
  }
  const round: { cause?: unknown } = {};
  round.cause = round;
  assert.equal(networkErrorCode(round), 'the connection failed');
});
