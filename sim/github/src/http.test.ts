import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { serve } from './http.ts';

describe('HTTP around a function', () => {
  test('aborts the request signal when the client disconnects', async () => {
    const asked = Promise.withResolvers<AbortSignal | undefined>();
    const served = await serve(0, ({ signal }) => {
      asked.resolve(signal);
      return new Promise(() => undefined);
    });
    const left = new AbortController();
    const answer = fetch(served.url, { signal: left.signal }).catch(() => 'left');
    const signal = await asked.promise;
    assert.ok(signal);
    const noticed = once(signal, 'abort');
    left.abort();
    await noticed;
    assert.equal(await answer, 'left');
    await served.stop();
    await served.stop();
  });
});
