import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PushOutcome, pushProblem } from './push-outcome.ts';

const artifact = { name: 'tart 2.32.1', sha256: 'abc', size: 1, file: '/tart' };
const output = { stdout: '', stderr: '' };

test('every outcome but the good ones says what happened, why, and what to do', () => {
  const table: [PushOutcome, RegExp | undefined][] = [
    [{ kind: 'pushed' }, undefined],
    [{ kind: 'already there' }, undefined],
    [{ kind: 'no space', free: 400_000_000, needed: 1_100_000_000 }, /has 400 MB free and needs 1100 MB. Free 700 MB/],
    [{ kind: 'arrived broken' }, /arrived broken.*Try again/],
    [
      { kind: 'not pushed', outcome: { kind: 'command failed', code: 1, stdout: '', stderr: 'a\nsudo: no\n' } },
      /exit code 1\): sudo: no\. /,
    ],
    [{ kind: 'not pushed', outcome: { kind: 'command failed', signal: 'KILL', ...output } }, /\(signal KILL\)\. /],
    [
      { kind: 'not pushed', outcome: { kind: 'timed out', after: 90_000, ...output } },
      /longer than 90 s. Look at the net/,
    ],
    [
      { kind: 'not pushed', outcome: { kind: 'connection lost', cause: 'reset', ...output } },
      /lost \(reset\). Try again/,
    ],
    [{ kind: 'not pushed', outcome: { kind: 'input failed', cause: 'gone', ...output } }, /read here: gone. Prepare/],
    [{ kind: 'not pushed', outcome: { kind: 'aborted', ...output } }, /aborted. Try again/],
  ];
  for (const [outcome, text] of table) {
    const problem = pushProblem(artifact, outcome);
    if (text === undefined) assert.equal(problem, undefined);
    else {
      assert.match(problem ?? '', text);
      assert.match(problem ?? '', /^tart 2\.32\.1 was not pushed: .*[^.]\.$/);
    }
  }
});
