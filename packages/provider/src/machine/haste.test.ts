import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { again, settled } from '@tartan/kube';
import { createHaste } from './haste.ts';

describe('passes that come right after each other', () => {
  it('are many, but not for ever', () => {
    const haste = createHaste();
    for (let pass = 0; pass < 20; pass += 1) assert.deepEqual(haste.temper('a', again(0)), again(0));
    assert.deepEqual(haste.temper('a', again(0)), again(1000));
    assert.deepEqual(haste.temper('b', again(0)), again(0), 'each machine has its own');
    assert.deepEqual(haste.temper('a', again(30)), again(30));
    assert.deepEqual(haste.temper('a', again(0)), again(0), 'a pause in between starts anew');
    assert.deepEqual(haste.temper('a', settled), settled);
  });
});
