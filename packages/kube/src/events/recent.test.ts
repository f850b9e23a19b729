import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { recent } from './recent.ts';

describe('a map of what is recent', () => {
  it('forgets what has not been used for longest', () => {
    const map = recent<number>(2);
    map.set('a', 1);
    map.set('b', 2);
    assert.equal(map.get('a'), 1);
    map.set('c', 3);
    assert.deepEqual([map.get('a'), map.get('b'), map.get('c')], [1, undefined, 3]);
  });
});
