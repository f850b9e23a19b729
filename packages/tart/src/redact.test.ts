import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { redact } from './redact.ts';

describe('redaction of secrets', () => {
  test('removes known secrets and text that looks like one', () => {
    const secrets = ['hunter2', 'hunter2-long'];
    assert.equal(redact('a hunter2-long b hunter2 c', secrets), 'a <redacted> b <redacted> c');
    assert.equal(redact('running at vnc://:pass@127.0.0.1:5900...'), 'running at vnc://<redacted>');
    assert.equal(redact('GET https://user:pw@ghcr.io/v2/'), 'GET https://<redacted>@ghcr.io/v2/');
    assert.equal(redact('Authorization: Bearer eyJhbGciOi.x.y'), 'Authorization: Bearer <redacted>');
    assert.equal(redact('{"token": "abc"}'), '{"token": "<redacted>"}');
    assert.equal(redact('VM "token-ring" is running'), 'VM "token-ring" is running');
  });

  test('leaves no known secret in any text', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 12 }), fc.string(), (before, secret, after) => {
        fc.pre(!'<redacted>'.includes(secret) && !secret.includes('redacted'));
        assert.ok(!redact(`${before}${secret}${after}`, [secret]).includes(secret));
      }),
    );
  });
});
