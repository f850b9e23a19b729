import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sizeFrom } from './size.ts';

test('a size is a whole number from the environment, or the default', () => {
  const variable = 'TARTAN_BENCH_TEST';
  assert.equal(sizeFrom(variable, 7, {}), 7);
  assert.equal(sizeFrom(variable, 7, { [variable]: '' }), 7);
  assert.equal(sizeFrom(variable, 7, { [variable]: '50' }), 50);
  for (const wrong of ['0', '-1', '1.5', 'many'])
    assert.throws(() => sizeFrom(variable, 7, { [variable]: wrong }), /TARTAN_BENCH_TEST/);
});
