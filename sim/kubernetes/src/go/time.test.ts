import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { canonicalMicroTime, canonicalTime } from './time.ts';

const micro = '2006-01-02T15:04:05.000000Z07:00';
const second = '2006-01-02T15:04:05Z07:00';
const cannot = (text: string, layout: string, rest: string, element: string): string =>
  `parsing time "${text}" as "${layout}": cannot parse "${rest}" as "${element}"`;

const refused = (read: (text: string) => string, text: string): string => {
  try {
    return `accepted as ${read(text)}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

describe('micro times', () => {
  const accepted: [string, string][] = [
    ['2026-01-01T00:00:00.123456+02:00', '2025-12-31T22:00:00.123456Z'],
    ['2026-01-01T0:00:00.000000Z', '2026-01-01T00:00:00.000000Z'],
    ['2026-01-01T00:00:00,123456Z', '2026-01-01T00:00:00.123456Z'],
    ['2024-02-29T00:00:00.000000Z', '2024-02-29T00:00:00.000000Z'],
  ];
  for (const [text, expected] of accepted) {
    it(`parses ${text}`, () => assert.equal(canonicalMicroTime(text), expected));
  }

  const refusals: [string, string][] = [
    ['2026-01-01T00:00:00Z', cannot('2026-01-01T00:00:00Z', micro, 'Z', '.000000')],
    ['2026-01-01T00:00:00.123Z', cannot('2026-01-01T00:00:00.123Z', micro, '.123Z', '.000000')],
    ['2026-01-01T00:00:00.1234567Z', cannot('2026-01-01T00:00:00.1234567Z', micro, '7Z', 'Z07:00')],
    ['2026-13-01T00:00:00.000000Z', 'parsing time "2026-13-01T00:00:00.000000Z": month out of range'],
    ['2026-02-30T00:00:00.000000Z', 'parsing time "2026-02-30T00:00:00.000000Z": day out of range'],
    ['2026-02-29T00:00:00.000000Z', 'parsing time "2026-02-29T00:00:00.000000Z": day out of range'],
    ['2026-01-00T00:00:00.000000Z', 'parsing time "2026-01-00T00:00:00.000000Z": day out of range'],
    ['2026-01-01 00:00:00.000000Z', cannot('2026-01-01 00:00:00.000000Z', micro, ' 00:00:00.000000Z', 'T')],
    ['2026-01-01T25:00:00.000000Z', 'parsing time "2026-01-01T25:00:00.000000Z": hour out of range'],
    ['2026-01-01T00:60:00.000000Z', 'parsing time "2026-01-01T00:60:00.000000Z": minute out of range'],
    ['2026-01-01T00:00:00.000000', cannot('2026-01-01T00:00:00.000000', micro, '', 'Z07:00')],
    ['2026-01-01T00:00:00.000000Zx', 'parsing time "2026-01-01T00:00:00.000000Zx": extra text: "x"'],
    ['', cannot('', micro, '', '2006')],
    ['2026-1-01T00:00:00.000000Z', cannot('2026-1-01T00:00:00.000000Z', micro, '1-01T00:00:00.000000Z', '01')],
    ['2026-01-01T00:00:00.000000+0200', cannot('2026-01-01T00:00:00.000000+0200', micro, '+0200', 'Z07:00')],
    [
      '2026-01-01T00:00:00.000000+25:00',
      'parsing time "2026-01-01T00:00:00.000000+25:00": time zone offset hour out of range',
    ],
  ];
  for (const [text, message] of refusals) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.equal(refused(canonicalMicroTime, text), message));
  }
});

describe('times', () => {
  it('are truncated to a second', () => {
    assert.equal(canonicalTime('2026-01-01T10:00:00.5+02:00'), '2026-01-01T08:00:00Z');
    assert.equal(canonicalTime('2026-01-01T00:00:00.123456789Z'), '2026-01-01T00:00:00Z');
  });

  const refusals: [string, string][] = [
    ['yesterday', cannot('yesterday', second, 'yesterday', '2006')],
    ['2026-01-01', cannot('2026-01-01', second, '', 'T')],
    ['2026-01-01T00:00:00', cannot('2026-01-01T00:00:00', second, '', 'Z07:00')],
    ['2026-01-01T00:00:60Z', 'parsing time "2026-01-01T00:00:60Z": second out of range'],
    ['2026-01-01T00:00:00z', cannot('2026-01-01T00:00:00z', second, 'z', 'Z07:00')],
    ['2026-01-01T00:00:00.Z', cannot('2026-01-01T00:00:00.Z', second, '.Z', 'Z07:00')],
  ];
  for (const [text, message] of refusals) {
    it(`refuse ${text}`, () => assert.equal(refused(canonicalTime, text), message));
  }
});
