import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createBatches } from './batches.ts';

const many = (folder: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${folder}/src/${String(index).padStart(3, '0')}.test.ts`);

const none = new Map<string, number>();

test('a few files share one process', () => {
  assert.deepEqual(
    createBatches(['packages/kube/src/b.test.ts', 'packages/api/src/a.test.ts'], none, 3).map(({ name, files }) => [
      name,
      files,
    ]),
    [['packages/api, packages/kube (2 files)', ['packages/api/src/a.test.ts', 'packages/kube/src/b.test.ts']]],
  );
});

test('a slow file has its own process, and starts first', () => {
  const slow = new Map([['test/crash/crash.test.ts', 60]]);
  const [first, ...others] = createBatches([...many('packages/kube', 100), 'test/crash/crash.test.ts'], slow, 2);
  assert.deepEqual(first?.files, ['test/crash/crash.test.ts']);
  assert.equal(first.name, 'test/crash/crash.test.ts');
  assert.ok(others.length > 1);
});

test('neighbouring files stay together, whatever slow file is between them', () => {
  const slow = new Map([['b/src/x.test.ts', 60]]);
  assert.deepEqual(
    createBatches([...many('a', 3), 'b/src/x.test.ts', ...many('c', 3)], slow, 2).map(({ name }) => name),
    ['b/src/x.test.ts', 'a/src, c/src (6 files)'],
  );
});

test('with a seed the order is random, and the same for the same seed', () => {
  const files = many('packages/kube', 40);
  const order = (seed: number) => createBatches(files, none, 1, seed).flatMap((batch) => batch.files);
  assert.deepEqual(order(1), order(1));
  assert.notDeepEqual(order(1), order(2));
  assert.deepEqual(order(1).toSorted(), files);
});

test('without files there are no batches', () => {
  assert.deepEqual(createBatches([], none, 3), []);
});

test('every file is in one batch, long batches come first, and none is much longer than its share', () => {
  const table = fc.uniqueArray(
    fc.record({ file: fc.stringMatching(/^[a-c]\/[a-c]\/[a-z]{1,4}\.test\.ts$/), seconds: fc.nat(90) }),
    { selector: ({ file }) => file, maxLength: 200 },
  );
  fc.assert(
    fc.property(table, fc.integer({ min: 1, max: 16 }), (rows, workers) => {
      const slow = new Map(rows.map(({ file, seconds }) => [file, seconds]));
      const batches = createBatches([...slow.keys()], slow, workers);
      assert.deepEqual(batches.flatMap(({ files }) => files).toSorted(), [...slow.keys()].toSorted());
      const seconds = batches.map((batch) => batch.seconds);
      assert.deepEqual(
        seconds,
        seconds.toSorted((one, other) => other - one),
      );
      const total = seconds.reduce((sum, each) => sum + each, 0);
      for (const batch of batches)
        assert.ok(batch.files.length === 1 || batch.seconds <= Math.max(4, total / (workers * 6)) + 1e-6);
    }),
  );
});
