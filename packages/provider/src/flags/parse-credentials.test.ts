import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { createHostPool } from '@tartan/scaleway';
import fc from 'fast-check';
import { parseCredentials } from './parse-credentials.ts';

const secret = '0b5e2a0c-1111-4222-8333-94d8f6c1aaaa';
const complete = {
  SCW_ACCESS_KEY: 'SCW0123456789ABCDEFG',
  SCW_SECRET_KEY: secret,
  SCW_DEFAULT_PROJECT_ID: 'c0ffee00-1111-4222-8333-94d8f6c1bbbb',
};

const errorsOf = (env: Record<string, string | undefined>): readonly string[] => {
  const parsed = parseCredentials(env);
  return 'errors' in parsed ? parsed.errors : [];
};

describe('credentials', () => {
  test('are read from the environment, and give access to the pool', () => {
    const parsed = parseCredentials(complete);
    assert.ok('credentials' in parsed);
    const { accessKey, secretKey, projectID, apiURL } = parsed.credentials;
    assert.equal(accessKey, complete.SCW_ACCESS_KEY);
    assert.equal(secretKey.reveal(), secret);
    assert.equal(projectID, complete.SCW_DEFAULT_PROJECT_ID);
    assert.equal(apiURL, undefined);
    createHostPool({ accessKey, secretKey: secretKey.reveal(), projectID });
  });

  test('do not show the secret key when they are printed', () => {
    const parsed = parseCredentials(complete);
    assert.ok(!`${inspect(parsed, { depth: 9, showHidden: true })}${JSON.stringify(parsed)}`.includes(secret));
  });

  test('are trimmed, as a Secret made by hand ends with a newline', () => {
    const parsed = parseCredentials({ ...complete, SCW_SECRET_KEY: `${secret}\n` });
    assert.equal('credentials' in parsed && parsed.credentials.secretKey.reveal(), secret);
  });

  test('may be for another API URL', () => {
    const parsed = parseCredentials({ ...complete, SCW_API_URL: 'http://127.0.0.1:8000' });
    assert.equal('credentials' in parsed && parsed.credentials.apiURL, 'http://127.0.0.1:8000');
  });

  test('are all reported at once when several are missing', () => {
    assert.deepEqual(
      errorsOf({ SCW_SECRET_KEY: ' ' }),
      ['SCW_ACCESS_KEY', 'SCW_SECRET_KEY', 'SCW_DEFAULT_PROJECT_ID'].map(
        (name) => `${name} is not set. Set it from the Secret that holds the API key of Scaleway.`,
      ),
    );
  });

  const wrong: [env: Partial<typeof complete & { SCW_API_URL: string }>, error: RegExp][] = [
    [{ SCW_ACCESS_KEY: 'SCW' }, /^SCW_ACCESS_KEY is not SCW and 17 capital letters or digits\. Set/],
    [{ SCW_ACCESS_KEY: secret }, /^SCW_ACCESS_KEY .* are the two swapped\?/],
    [{ SCW_SECRET_KEY: 'hunter2' }, /^SCW_SECRET_KEY is not a UUID\. Set/],
    [{ SCW_DEFAULT_PROJECT_ID: 'default' }, /^SCW_DEFAULT_PROJECT_ID is not a UUID/],
    [{ SCW_API_URL: 'localhost:80' }, /^SCW_API_URL is not an http\(s\) address .* leave it out\.$/],
    [{ SCW_API_URL: 'https://me:hunter2@x' }, /^SCW_API_URL is not/],
  ];
  for (const [env, error] of wrong) {
    test(`that are invalid are rejected without showing the value: ${Object.keys(env).join()}=${Object.values(env).join()}`, () => {
      const errors = errorsOf({ ...complete, ...env });
      assert.equal(errors.length, 1);
      assert.match(errors[0] ?? '', error);
      for (const value of ['hunter2', secret, complete.SCW_ACCESS_KEY]) assert.ok(!errors.join().includes(value));
    });
  }

  test('parse to a result or errors for every environment, and errors contain no values', () => {
    // Marked, so that none is a part of our own sentences by chance.
    const marked = fc.string().map((text) => `¤${text}¤`);
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...Object.keys(complete), 'SCW_API_URL'), marked), (env) => {
        assert.doesNotMatch(errorsOf(env).join(), /¤/);
      }),
    );
  });
});
