import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { done, requeueAfter } from '@tartan/kube';
import { createRequeueLimiter } from './requeue.ts';

describe('immediate requeues', () => {
  it('are limited per machine', () => {
    const limiter = createRequeueLimiter();
    for (let pass = 0; pass < 20; pass += 1) assert.deepEqual(limiter.limit('a', requeueAfter(0)), requeueAfter(0));
    assert.deepEqual(limiter.limit('a', requeueAfter(0)), requeueAfter(1000));
    assert.deepEqual(limiter.limit('b', requeueAfter(0)), requeueAfter(0), 'each machine has its own');
    assert.deepEqual(limiter.limit('a', requeueAfter(30)), requeueAfter(30));
    assert.deepEqual(limiter.limit('a', requeueAfter(0)), requeueAfter(0), 'a pause in between starts anew');
    assert.deepEqual(limiter.limit('a', done), done);
  });
});
