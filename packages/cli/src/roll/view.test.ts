import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pageLines } from '../show/view.ts';
import { aFleet, aWorld, minutesAgo, said } from '../testing/objects.ts';
import { rollDocument } from './document.ts';
import { rollView } from './view.ts';

const shown = (fleets: ReturnType<typeof aFleet>[], name?: string) => {
  const view = rollView(name);
  const document = view.documentOf(aWorld({ fleets }));
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
  conditions: [said('Rolling', 'True', 'Canary', '1 of 3 are up to date.')],
});

describe('tartan roll status', () => {
  test('shows how far it is, and who has a turn', () => {
    const { lines, code } = shown([rolling]);
    assert.deepEqual(lines, [
      'FLEET   STATE    UPDATED   READY   DESIRED   AT ONCE   TURN             REVISION',
      'macos   Canary   1/3       2/3     3         1         mac-1 (canary)   abcdef012345',
      '',
      'macos: 1 of 3 are up to date.',
    ]);
    assert.equal(code, 0);
  });

  test('says why it stopped, what helps, and ends with 1', () => {
    const stop = { reason: 'PushRejected', machine: 'mac-1', message: 'No space left.', at: minutesAgo(3) } as const;
    const { lines, code } = shown([aFleet('macos', { stop })]);
    assert.match(
      lines.join(' '),
      /macos +stopped .* PushRejected on mac-1: No space left\. What helps: .*tartan explain mac-1\./,
    );
    assert.equal(code, 1);
  });

  test('says that it is paused, and that nobody has looked at it', () => {
    const { lines } = shown([aFleet('macos', { observedGeneration: -1 }, { paused: true })]);
    assert.match(
      lines.join(' '),
      /unseen, paused .* tartan roll resume macos lets it go on\. .*has not seen the last change/,
    );
  });

  test('a fleet that is not there is not one that is done', () => {
    assert.deepEqual(shown([rolling], 'other'), {
      lines: ['There is no MacFleet other. tartan roll status lists those there are.'],
      code: 1,
    });
    assert.equal(shown([]).code, 0);
  });
});
