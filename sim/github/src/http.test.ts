import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { settle } from '@tartan/kube/testing';
import { createFetch, serve } from './http.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

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

describe('fetch around a function', () => {
  // The signal of a Request is silent once the Request itself is collected.
  test('leaves a request pending until it is aborted, also after a garbage collection', async () => {
    const fetch = createFetch(async () => 'hang');
    const left = new AbortController();
    let answer: unknown;
    void fetch('https://github.invalid', { signal: left.signal }).catch((error: unknown) => (answer = error));
    await settle();
    collectGarbage();
    left.abort('left');
    await settle();
    assert.equal(answer, 'left');
  });
});
