import type { Redactor } from '@tartan/kube';
import { wrongPasswordExitCode } from '../steps/preparation.ts';
import type { Step } from '../steps/step.ts';

/** Why a step failed although the host was reachable. `rejected`: its script failed. */
export type StepFailure = 'rejected' | keyof typeof texts;

export interface StepErrorDetails {
  readonly failure: StepFailure;
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  /** The host's output. It is redacted here. */
  readonly output: string;
}

/** The meaning of exit codes: 75 (EX_TEMPFAIL) is in `lib.sh`. */
export const failureOfExitCode = (code: number | undefined): StepFailure => {
  if (code === 75) return 'lock lost';
  return code === wrongPasswordExitCode ? 'wrong password' : 'rejected';
};

/** A failed step: what, why, and what to do next. Holds no secret. */
export class StepError extends Error {
  override readonly name = 'StepError';
  readonly step: string;
  readonly failure: StepFailure;
  readonly exitCode: number | undefined;
  /** The end of the output. */
  readonly tail: string;

  constructor(step: Pick<Step, 'name' | 'title'>, details: StepErrorDetails, redact: Redactor) {
    const tail = tailOf(details.output, redact);
    const [cause, advice] = textsOf(details);
    const why = [cause, tail].filter((part) => part !== '').join(': ');
    super(
      `Could not ${step.title} (step ${step.name}): ${why}. ${advice.replaceAll('STEP', step.name)}`.replace(
        /([.!?])\. /,
        '$1 ',
      ),
    );
    this.step = step.name;
    this.failure = details.failure;
    this.exitCode = details.exitCode;
    this.tail = tail;
  }
}

const tailLength = 2000;

/**
 * Redacts before cutting, since half a secret is secret too. The output was already cut at its front when it was read, so it may begin
 * with the end of a secret. That part is never kept: the output is longer than the tail.
 */
const tailOf = (text: string, redact: Redactor): string => redact.text(text).trim().slice(-tailLength);

/** The cause, and what to do. */
const texts = {
  /** The same password must not be sent again: several wrong ones lock the account (INC-207). */
  'wrong password': [
    'the Mac refused the password',
    'Store the right password of the user, or run "tartan prepare-host"; the same password is not tried again.',
  ],
  /** Nothing was stamped. */
  'lock lost': [
    'the lock of the host was lost',
    'Another process prepares this host: wait until it has finished, then run the command again.',
  ],
  /** The script succeeded without a result line, so it did not run to its end. */
  'no result': [
    'the script printed no result',
    'Check what the login shell of the user prints or runs on the host (.zshenv), then run the command again.',
  ],
  /** The script succeeded. */
  'not stamped': [
    'the host has no stamp of the step',
    'Check that /var/db/tartan/steps on the host is writable and that no other program changes it, then run the command again.',
  ],
  /** The given secret is invalid. */
  'secret refused': ['nothing was sent to the host', 'Fix the cause, then run the command again.'],
  'no secret': ['the secret of the step is missing', 'The host was not changed. The step is retried.'],
  /** Only from a check: sudo asks the user for a password. */
  'no root': ['sudo needs a password', 'Prepare the host first: "tartan prepare-host".'],
  'artifact not pushed': ['its artifact could not be pushed', 'The step changed nothing.'],
  /** Only from an optional step. */
  'timed out': [
    'the step timed out',
    'No other step depends on it. Check on the host what step STEP waits for; the next run retries it.',
  ],
} as const;

const textsOf = ({ failure, exitCode, signal }: StepErrorDetails): readonly [cause: string, advice: string] =>
  failure === 'rejected'
    ? [
        signal === undefined ? `exit code ${exitCode ?? 'unknown'}` : `killed by ${signal}`,
        'Fix the cause, then run the command again; "tartan doctor" lists the differences on the host.',
      ]
    : texts[failure];
