import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { done, requeueAfter } from '@tartan/kube';
import { createRequeueLimiter } from './requeue.ts';

describe('immediate requeues', () => {
  it('are limited per machine', () => {
    const haste = createRequeueLimiter();
    for (let pass = 0; pass < 20; pass += 1) assert.deepEqual(haste.limit('a', requeueAfter(0)), requeueAfter(0));
    assert.deepEqual(haste.limit('a', requeueAfter(0)), requeueAfter(1000));
    assert.deepEqual(haste.limit('b', requeueAfter(0)), requeueAfter(0), 'each machine has its own');
    assert.deepEqual(haste.limit('a', requeueAfter(30)), requeueAfter(30));
    assert.deepEqual(haste.limit('a', requeueAfter(0)), requeueAfter(0), 'a pause in between starts anew');
    assert.deepEqual(haste.limit('a', done), done);
  });
});
