import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Batch } from './batches.ts';
import { crashText, createProgress, type TestEvent } from './progress.ts';

const batch = (...files: string[]): Batch => ({ name: files.join(' and '), files, seconds: 1 });
const batches = new Map([
  ['/tmp/1.mjs', batch('a.test.ts', 'b.test.ts')],
  ['/tmp/2.mjs', batch('c.test.ts')],
]);

const complete = (file: string, name: string, ms: number, { nesting = 0, passed = true } = {}): TestEvent => ({
  type: 'test:complete',
  data: { name, nesting, file, details: { duration_ms: ms, passed } },
});
const ended = (file: string, ms: number, passed = true): TestEvent => complete(file, file, ms, { passed });
const summary = (file?: string): TestEvent => ({ type: 'test:summary', data: file === undefined ? {} : { file } });

test('a line is printed when a batch is done, and none for its tests', () => {
  const progress = createProgress(batches, '/root');
  assert.equal(progress.onEvent(complete('/root/a.test.ts', 'one', 10)), undefined);
  assert.equal(progress.onEvent({ type: 'test:diagnostic', data: {} }), undefined);
  assert.equal(progress.onEvent(ended('/tmp/2.mjs', 1250, false)), '✖ 1 of 2: c.test.ts, 1.3 s');
  assert.equal(progress.onEvent(ended('/tmp/1.mjs', 4000)), '✔ 2 of 2: a.test.ts and b.test.ts, 4.0 s');
});

test('a process that ended without a summary has crashed, with any exit code', () => {
  const progress = createProgress(batches, '/root');
  // The summary of a batch may arrive after its end.
  for (const each of [ended('/tmp/2.mjs', 1), ended('/tmp/1.mjs', 1), summary('/tmp/1.mjs'), summary()])
    progress.onEvent(each);
  const [crashed, ...others] = progress.crashed();
  assert.deepEqual(others, []);
  assert.ok(crashed);
  assert.match(crashText(crashed), /npm test -- FILE.*\n {4}c\.test\.ts\n$/);
});

test('files are compared by the duration of their top-level tests and suites', () => {
  const progress = createProgress(batches, '/root');
  for (const each of [
    complete('/root/a.test.ts', 'one', 1000),
    complete('/root/a.test.ts', 'inner', 700, { nesting: 1 }),
    complete('/root/a.test.ts', 'two', 500),
    complete('/root/b.test.ts', 'one', 2000),
    complete('/elsewhere/c.test.ts', 'one', 1),
    ended('/tmp/1.mjs', 9000),
  ])
    progress.onEvent(each);
  assert.deepEqual(progress.slowest(2), [
    ['b.test.ts', 2],
    ['a.test.ts', 1.5],
  ]);
  assert.deepEqual(progress.slowest(9).at(-1), ['/elsewhere/c.test.ts', 0.001]);
});
