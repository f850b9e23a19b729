import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { failuresIn, formatFailures, parseRepeatArguments } from './repeat-report.ts';

describe('the arguments of test:repeat', () => {
  const script = (...given: string[]) => parseRepeatArguments(given)?.scriptFor(3);
  test('run everything, files or a tier, each run in another order', () => {
    assert.deepEqual(script('10'), ['test', '--', '--shuffle=3']);
    assert.deepEqual(script('10', '--load', 'a.test.ts', 'b.test.ts'), [
      'test',
      '--',
      '--shuffle=3',
      'a.test.ts',
      'b.test.ts',
    ]);
    assert.deepEqual(script('3', 'fleet'), ['test:fleet', '--', '--shuffle=3']);
    assert.deepEqual(script('2', 'kubernetes'), ['test:kubernetes']);
    assert.equal(parseRepeatArguments(['5', '--load'])?.load, true);
  });
  for (const wrong of [[], ['0'], ['x'], ['2', '--loud'], ['2', 'fleet', 'a.test.ts']])
    test(`reject ${JSON.stringify(wrong)}`, () => assert.equal(parseRepeatArguments(wrong), undefined));
});

test('failed tests are read from the output of the test runner', () => {
  const output = `✖ flaky (3.2ms)
✖ failing tests:

test at packages/kube/src/a.test.ts:12:3
✖ flaky (3.2ms)
  AssertionError: x

test at packages/kube/src/b.test.ts:1:1
✖ other
`;
  assert.deepEqual(failuresIn(output), ['packages/kube/src/a.test.ts: flaky', 'packages/kube/src/b.test.ts: other']);
});

test('the table has the most frequent failure first', () => {
  const failures = new Map([
    ['a: one', 1],
    ['b: two', 3],
  ]);
  assert.equal(formatFailures(failures, 3, 5), '\n3 of 5 runs failed\n    3  b: two\n    1  a: one\n');
});
