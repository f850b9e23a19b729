import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { duration, formatDuration } from './duration.ts';

const day = 86_400_000;
const upToADay = duration({ fromMs: 1_000, toMs: day });

describe('a duration', () => {
  const taken: [text: string, ms: number][] = [
    ['30m', 1_800_000],
    ['1h30m', 5_400_000],
    ['15m0s', 900_000],
    ['1h0m0.5s', 3_600_500],
    ['1.5h', 5_400_000],
    ['.5m', 30_000],
    ['1.s', 1_000],
    ['+90s', 90_000],
    ['1500ms', 1_500],
    ['1000000us', 1_000],
    ['1000000µs', 1_000],
    ['1000000μs', 1_000],
    ['2000000000ns', 2_000],
    ['24h', day],
  ];
  for (const [text, ms] of taken) {
    test(`${text} is ${ms} ms, as in Go`, () => assert.deepEqual(upToADay.parse(text), { value: ms }));
  }

  const refused: [text: string, problem: RegExp][] = [
    ['', /is no duration/],
    ['15', /has no unit/],
    ['-15', /has no unit/],
    ['-15m', /is below zero/],
    ['15 m', /is no duration/],
    ['15M', /is no duration/],
    ['1d', /is no duration/],
    ['.m', /is no duration/],
    ['m', /is no duration/],
    ['15m ', /is no duration/],
    ['15m\n', /is no duration/],
    ['0', /is not between 1s and 24h$/],
    ['999ms', /is not between 1s and 24h$/],
    ['24h1s', /is not between 1s and 24h$/],
    [`${'9'.repeat(400)}h`, /is not between/],
  ];
  for (const [text, problem] of refused) {
    test(`${JSON.stringify(text.slice(0, 20))} is refused`, () => {
      const parsed = upToADay.parse(text);
      assert.match('problem' in parsed ? parsed.problem : 'taken', problem);
    });
  }

  test('0 turns off what may be turned off', () => {
    const orNever = duration({ fromMs: 1_000, toMs: day, zero: true });
    for (const text of ['0', '+0', '0s', '0h0m']) assert.deepEqual(orNever.parse(text), { value: 0 });
    assert.deepEqual(orNever.parse('1ms'), { problem: 'is not between 1s and 24h, nor 0' });
  });

  test('what is written is read back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: day }), (ms) =>
        assert.deepEqual(upToADay.parse(formatDuration(ms)), { value: ms }),
      ),
    );
  });
});
