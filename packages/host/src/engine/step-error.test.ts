import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hostRedactor } from './redaction.ts';
import { failureOfExitCode, StepError, type StepFailure } from './step-error.ts';

const step = { name: 'tart', title: 'install tart' };
const redact = hostRedactor({});

describe('the error of a step', () => {
  const failures: readonly (readonly [StepFailure, RegExp])[] = [
    ['rejected', /^Could not install tart \(step tart\): exit code 3: no room\. Fix .*\.$/],
    ['wrong password', /refused the password: no room\. Store the right .*\.$/],
    ['no secret', /: the secret of the step is missing: no room\. The host was not changed/],
    ['secret refused', /nothing was sent to the host: no room\. Fix .*\.$/],
    ['lock lost', /the lock of the host was lost: no room\. Another process .*\.$/],
    ['no result', /printed no result: no room\. .*login shell.*\.$/],
    ['not stamped', /has no stamp of the step: no room\. .*\/var\/db\/tartan\/steps.*\.$/],
    ['secret refused', /nothing was sent to the host: no room\. Fix .*\.$/],
    ['artifact not pushed', /could not be pushed: no room\. The step changed nothing\.$/],
    ['no root', /sudo needs a password: no room\. Prepare .*\.$/],
    ['timed out', /timed out: no room\. .*step tart waits for.*\.$/],
  ];
  for (const [failure, message] of failures) {
    test(`that was "${failure}" says what, why, and what to do`, () => {
      assert.match(new StepError(step, { failure, exitCode: 3, output: 'no room\n' }, redact).message, message);
    });
  }

  test('follows from the exit code of its script', () => {
    assert.deepEqual([1, 75, 77, undefined].map(failureOfExitCode), [
      'rejected',
      'lock lost',
      'wrong password',
      'rejected',
    ]);
  });

  test('names the signal that killed it', () => {
    assert.match(
      new StepError(step, { failure: 'rejected', signal: 'KILL', output: '' }, redact).message,
      /killed by KILL\. /,
    );
  });

  test('quotes the end of the output, without secrets, even where it is cut', () => {
    const secret = 'correct horse battery staple';
    const output = `${'x'.repeat(500)}${secret}${'y'.repeat(1975)} the end`;
    const error = new StepError(
      step,
      { failure: 'rejected', exitCode: 1, output },
      hostRedactor({ userPassword: secret }),
    );
    assert.ok(error.tail.endsWith('the end') && error.tail.length <= 2000);
    assert.ok(!/horse|battery|staple/.test(error.message));
  });
});
