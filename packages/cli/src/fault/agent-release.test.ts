import assert from 'node:assert/strict';
import { test } from 'node:test';
import { latestVersion, nextPatch } from './agent-release.ts';

const versions: readonly [versions: string[], latest: string, following: string][] = [
  [[], '0.0.0', '0.0.1'],
  [['v0.1.0'], '0.1.0', '0.1.1'],
  [['v0.1.9', 'v0.1.10'], '0.1.10', '0.1.11'],
  [['v0.2.0', 'v0.1.10', 'v0.2.0'], '0.2.0', '0.2.1'],
  [['v1.0.0', 'v0.9.9'], '1.0.0', '1.0.1'],
];
for (const [given, last, next] of versions)
  test(`after ${given.join(', ') || 'no agent at all'} comes ${next}`, () => {
    assert.equal(latestVersion(given), last);
    assert.equal(nextPatch(last), next);
  });
