import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pageLines } from '../output/view.ts';
import { aClusterState, aCondition, aFleet, minutesAgo } from '../testing/objects.ts';
import { rollDocument, rollView } from './status.ts';

const shown = (fleets: ReturnType<typeof aFleet>[], name?: string) => {
  const view = rollView(name);
  const document = view.documentOf(aClusterState({ fleets }));
  rollDocument.parse(document);
  return { lines: pageLines(view.pageOf(document), undefined, { colours: false }), code: view.exitCode(document) };
};

const rolling = aFleet('macos', {
  revision: 'abcdef0123456789',
  desired: 3,
  existing: 3,
  ready: 2,
  updated: 1,
  turns: [{ machine: 'mac-1', uid: 'u', hash: 'h', canary: true, grantedAt: minutesAgo(1) }],
  conditions: [aCondition('Rolling', 'True', 'Canary', '1 of 3 are up to date.')],
});

describe('tartan roll status', () => {
  test('shows progress and turns', () => {
    const { lines, code } = shown([rolling]);
    assert.deepEqual(lines, [
      'FLEET   STATE    UPDATED   READY   DESIRED   AT ONCE   TURN             REVISION',
      'macos   Canary   1/3       2/3     3         1         mac-1 (canary)   abcdef012345',
      '',
      'macos: 1 of 3 are up to date.',
    ]);
    assert.equal(code, 0);
  });

  test('a stopped rollout shows reason and remedy and exits with 1', () => {
    const stop = { reason: 'PushRejected', machine: 'mac-1', message: 'No space left.', at: minutesAgo(3) } as const;
    const { lines, code } = shown([aFleet('macos', { stop })]);
    assert.match(
      lines.join(' '),
      /macos +stopped .* PushRejected on mac-1: No space left\. Fix the cause .*tartan explain mac-1\./,
    );
    assert.equal(code, 1);
  });

  test('shows that a fleet is paused or not yet observed', () => {
    const { lines } = shown([aFleet('macos', { observedGeneration: -1 }, { paused: true })]);
    assert.match(
      lines.join(' '),
      /unseen, paused .* To resume: tartan roll resume macos .*has not observed the latest spec/,
    );
  });

  test('an unknown fleet exits with 1', () => {
    assert.deepEqual(shown([rolling], 'other'), {
      lines: ['There is no MacFleet other. tartan roll status lists all.'],
      code: 1,
    });
    assert.equal(shown([]).code, 0);
  });
});
