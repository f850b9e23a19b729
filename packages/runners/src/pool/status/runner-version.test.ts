import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { timestamp } from '@tartan/kube/clock';
import { runnerOutdatedCondition, runnerVersionStatusOf } from './runner-version.ts';

const day = 24 * 3_600_000;
const now = Date.parse('2026-11-01T00:00:00Z');
const ago = (days: number): string => timestamp(now - days * day);

type Row = readonly [
  what: string,
  previous: Parameters<typeof runnerVersionStatusOf>[0],
  reported: readonly string[],
  newest: string | undefined,
  reason: string,
  outdatedSince?: string,
];

const rows: readonly Row[] = [
  ['no guest reports a version', undefined, [], '2.335.0', 'VersionUnknown'],
  ['GitHub does not tell', undefined, ['2.335.0'], undefined, 'VersionUnknown'],
  ['the newest', undefined, ['2.335.0'], '2.335.0', 'UpToDate'],
  ['newer than what GitHub lists', undefined, ['2.336.0'], '2.335.0', 'UpToDate'],
  ['numbers are no words', undefined, ['2.99.0'], '2.335.0', 'UpdateDue', ago(0)],
  ['one of several is old', undefined, ['2.335.0', '2.334.9'], '2.335.0', 'UpdateDue', ago(0)],
  [
    'a newer one is out for 29 days',
    { version: '2.334.0', newest: '2.335.0', newestSince: ago(29), outdatedSince: ago(29) },
    ['2.334.0'],
    '2.335.0',
    'UpdateDue',
    ago(29),
  ],
  [
    'a newer one is out for 30 days',
    { version: '2.334.0', newest: '2.335.0', newestSince: ago(30), outdatedSince: ago(30) },
    ['2.334.0'],
    '2.335.0',
    'Refused',
    ago(30),
  ],
  [
    'a second newer one buys no time',
    { version: '2.334.0', newest: '2.335.0', newestSince: ago(30), outdatedSince: ago(30) },
    ['2.334.0'],
    '2.336.0',
    'Refused',
    ago(30),
  ],
  [
    'a new image that is one release behind',
    { version: '2.333.0', newest: '2.335.0', newestSince: ago(3), outdatedSince: ago(40) },
    ['2.334.0'],
    '2.335.0',
    'UpdateDue',
    ago(3),
  ],
  [
    'between two Pods the last report counts',
    { version: '2.334.0', newest: '2.335.0', newestSince: ago(31), outdatedSince: ago(31) },
    [],
    undefined,
    'Refused',
    ago(31),
  ],
  [
    'a new image ends it',
    { version: '2.334.0', newest: '2.335.0', newestSince: ago(31), outdatedSince: ago(31) },
    ['2.335.0'],
    '2.335.0',
    'UpToDate',
  ],
];

describe('the runner version', () => {
  for (const [what, previous, reported, newest, reason, outdatedSince] of rows) {
    test(`${what}: ${reason}`, () => {
      const age = runnerVersionStatusOf(previous, reported, newest, now);
      assert.equal(runnerOutdatedCondition(age, now).reason, reason);
      assert.equal(age?.outdatedSince, outdatedSince);
    });
  }

  test('reports until when GitHub accepts the version', () => {
    const { message } = runnerOutdatedCondition(runnerVersionStatusOf(undefined, ['2.334.0'], '2.335.0', now), now);
    assert.match(message ?? '', /GitHub gives no jobs to 2\.334\.0 from 2026-12-01T00:00:00Z at the latest/);
  });
});
