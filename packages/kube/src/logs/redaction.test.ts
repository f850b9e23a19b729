import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format, inspect } from 'node:util';
import { createSecret } from './redaction.ts';

test('a secret shows its value only through reveal()', () => {
  const secret = createSecret('hunter2-hunter2');
  assert.equal(secret.reveal(), 'hunter2-hunter2');
  // What careless code would do.
  const asText = secret as unknown as string;
  const shown = [
    String(secret),
    `it is ${asText}`,
    JSON.stringify({ secret }),
    inspect(secret, { depth: 10, showHidden: true }),
    inspect({ deep: { deeper: [secret] } }, { depth: 10, showHidden: true, customInspect: false }),
    format('%s %o %j', secret, secret, secret),
    JSON.stringify({ ...secret }),
    JSON.stringify(Object.entries(secret)),
    new Error(`with ${asText}`, { cause: secret }).message,
  ];
  for (const text of shown) assert.doesNotMatch(text, /hunter2/);
  assert.equal(`it is ${asText}`, 'it is [redacted]');
  assert.equal(inspect({ secret }), '{ secret: [redacted] }');
  assert.equal(JSON.stringify({ secret }), '{"secret":"[redacted]"}');
});
