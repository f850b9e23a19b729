import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Repository } from '../wire/answers.ts';
import { chooseRepositories } from './choose-repositories.ts';
import { waiting } from './waiting.ts';

const offered = ['self-hosted', 'macOS', 'ARM64'];
const at = '2026-01-01T00:00:10Z';

for (const [what, status, labels, counts] of [
  ['all that a runner has', 'queued', ['self-hosted', 'macOS', 'ARM64'], true],
  ['some of it', 'queued', ['macOS'], true],
  ['whatever the case', 'queued', ['MACOS', 'arm64'], true],
  ['one that it has not', 'queued', ['macOS', 'xcode-26'], false],
  ['one of GitHub’s own', 'queued', ['macos-latest'], false],
  ['no labels, only a group', 'queued', [], false],
  ['one that runs', 'in_progress', ['macOS'], false],
  ['one that waits for a permission', 'waiting', ['macOS'], false],
] as const) {
  test(`a job waits for these runners, or not: ${what}`, () => {
    const { jobs, oldestSince } = waiting([{ id: 1, status, created_at: at, labels: [...labels] }], offered);
    assert.equal(jobs, counts ? 1 : 0);
    assert.equal(oldestSince, counts ? Date.parse(at) : undefined);
  });
}

test('repositories: of that organisation, in use, the latest first', () => {
  const one = (full_name: string, more: Partial<Repository> = {}): Repository => ({
    id: 1,
    full_name,
    pushed_at: at,
    ...more,
  });
  const all = [
    one('acme/never', { pushed_at: null }),
    one('acme/old', { pushed_at: '2020-01-01T00:00:00Z' }),
    one('ACME/new'),
    one('acme/archived', { archived: true }),
    one('acme/disabled', { disabled: true }),
    one('acme-two/other'),
  ];
  assert.deepEqual(chooseRepositories(all, 'acme'), ['ACME/new', 'acme/old', 'acme/never']);
});
