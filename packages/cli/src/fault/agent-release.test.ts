import assert from 'node:assert/strict';
import { test } from 'node:test';
import { latestVersion, nextPatch } from './agent-release.ts';
import { closestName } from './server.ts';

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

const names = ['fleet-wide-roll', 'stuck-pods', 'stranded-hosts', 'host-wiped'];
const typed: readonly [typed: string, meant: string][] = [
  ['stuck-pod', 'stuck-pods'],
  ['Stuck_Pods', 'stuck-pods'],
  ['roll', 'fleet-wide-roll'],
  ['stranded', 'stranded-hosts'],
  ['wiped', 'host-wiped'],
];
for (const [given, meant] of typed)
  test(`${given} means ${meant}`, () => assert.equal(closestName(given, names), meant));

test('closestName of an empty list is undefined', () => assert.equal(closestName('x', []), undefined));
