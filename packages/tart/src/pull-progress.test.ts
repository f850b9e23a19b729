import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createPullParser, type PullProgress } from './pull-progress.ts';

const parse = (...pieces: readonly string[]): readonly PullProgress[] => {
  const seen: PullProgress[] = [];
  const parser = createPullParser((progress) => seen.push(progress));
  pieces.forEach(parser);
  return seen;
};

const whole = [
  'pulling ghcr.io/a/b:1...',
  'waiting for lock...',
  'pulling manifest...',
  'pulling disk (21.5 GB compressed)...',
  '0%',
  '43%',
  '100%',
  'pulling NVRAM...',
  '',
].join('\n');
const stages: readonly PullProgress[] = [
  { stage: 'waiting for lock' },
  { stage: 'manifest' },
  { stage: 'disk', percent: 0 },
  { stage: 'disk', percent: 0 },
  { stage: 'disk', percent: 43 },
  { stage: 'disk', percent: 100 },
  { stage: 'NVRAM' },
];

describe('progress of a pull', () => {
  test('is read line by line', () => assert.deepEqual(parse(whole), stages));

  test('does not depend on chunk boundaries', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: whole.length - 1 })), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), whole.length];
        assert.deepEqual(parse(...at.slice(1).map((end, index) => whole.slice(at[index], end))), stages);
      }),
    );
  });

  test('ignores terminal control codes', () => {
    assert.deepEqual(parse('\u001b[1A\u001b[K44%\n\u001b[1A\u001b[K45%\r\n'), [
      { stage: 'disk', percent: 44 },
      { stage: 'disk', percent: 45 },
    ]);
  });

  test('reports a cached image', () => {
    const image = 'ghcr.io/a/b@sha256:aa';
    assert.deepEqual(parse(`${image} image is already cached and linked!\n`), [{ stage: 'cached' }]);
    assert.deepEqual(parse(`${image} image is already cached! creating a symlink...\n`), [{ stage: 'cached' }]);
  });

  test('never throws, and no percentage is above 100', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom('999%\n', '\n', '7'))), (pieces) => {
        for (const progress of parse(...pieces)) assert.ok(progress.stage !== 'disk' || progress.percent <= 100);
      }),
    );
  });
});
