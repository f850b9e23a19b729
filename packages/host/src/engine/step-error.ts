import type { Redactor } from '@tartan/kube';
import { wrongPasswordExitCode } from '../steps/preparation.ts';
import type { Step } from '../steps/step.ts';

/** Why a step did not succeed although the host could be reached. */
export type StepFailure =
  /** Its script said no. */
  | 'rejected'
  /** The Mac refused the user's password. The same one must not be sent again: several wrong ones lock the account (INC-207). */
  | 'wrong password'
  /** Another pusher holds the host's lock now. Nothing was stamped. */
  | 'lock lost'
  /** Its script ended well without saying what it did: not one of our scripts ran there to its end. */
  | 'no result'
  /** It said that it was done, and its stamp was not there when the host was read back. */
  | 'not stamped'
  /** The secret that it was given cannot do, as was seen on our side. Nothing was sent. */
  | 'secret refused'
  /** Nobody could say the secret that it cannot do without. Nothing was sent. */
  | 'no secret'
  /** Only of a check: the user that logged in cannot become root without a password, and it takes root to look. */
  | 'no root'
  /** What it needs could not be put on the host. */
  | 'artifact not pushed'
  /** Only of an optional step: it ran longer than it may, and cost only itself. */
  | 'timed out';

export interface StepErrorDetails {
  readonly failure: StepFailure;
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  /** What the host said last. Is redacted here. */
  readonly output: string;
}

/** What scripts mean by their exit codes: 75 (EX_TEMPFAIL) is in `lib.sh`. */
export const failureOfExitCode = (code: number | undefined): StepFailure => {
  if (code === 75) return 'lock lost';
  return code === wrongPasswordExitCode ? 'wrong password' : 'rejected';
};

/** One step of one host, failed: what, why, and what to do next. Holds no secret. */
export class StepError extends Error {
  override readonly name = 'StepError';
  readonly step: string;
  readonly failure: StepFailure;
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  /** The end of what the host said. */
  readonly tail: string;
  readonly advice: string;

  constructor(step: Pick<Step, 'name' | 'title'>, details: StepErrorDetails, redact: Redactor) {
    const tail = tailOf(details.output, redact);
    const advice = advices[details.failure].replaceAll('STEP', step.name);
    const why = [describeFailure(details), tail].filter((part) => part !== '').join(': ');
    super(`Could not ${step.title} (step ${step.name}): ${why}. ${advice}`.replace(/([.!?])\. /, '$1 '));
    this.step = step.name;
    this.failure = details.failure;
    this.exitCode = details.exitCode;
    this.signal = details.signal;
    this.tail = tail;
    this.advice = advice;
  }
}

const tailLength = 2000;

/**
 * Redacted before it is cut, as half a secret is one too. The text was cut already where it was read, at its front: what stands there
 * may be the end of a secret, so a text longer than a tail loses its front here, and it is that front.
 */
const tailOf = (text: string, redact: Redactor): string => redact.text(text).trim().slice(-tailLength);

const describeFailure = ({ failure, exitCode, signal }: StepErrorDetails): string => {
  switch (failure) {
    case 'rejected':
      return signal === undefined ? `exit code ${exitCode ?? 'unknown'}` : `killed by ${signal}`;
    case 'wrong password':
      return 'the Mac refused the password';
    case 'lock lost':
      return 'the lock of the host was lost';
    case 'no result':
      return 'the host did not say what it did';
    case 'not stamped':
      return 'the host does not bear its stamp';
    case 'secret refused':
      return 'nothing was sent to the host';
    case 'no secret':
      return 'it needs a secret, and there is none';
    case 'no root':
      return 'there is no root without a password';
    case 'artifact not pushed':
      return 'what it needs could not be pushed';
    case 'timed out':
      return 'it took too long';
  }
};

const advices: Readonly<Record<StepFailure, string>> = {
  rejected: 'Mend what it names and run it again; "tartan doctor" lists what differs on the host.',
  'wrong password':
    'Store the right password of the user, or prepare the host by hand with "tartan prepare-host"; the same one is not tried again.',
  'lock lost': 'Somebody else prepares this host: wait for them to finish, then run it again.',
  'no result': 'See what the login shell of the user prints or does on the host (.zshenv), then run it again.',
  'not stamped': 'See whether /var/db/tartan/steps on the host can be written and is left alone, then run it again.',
  'secret refused': 'Mend what it names and run it again.',
  'no secret': 'What the host has of it was left alone; it is tried again.',
  'no root': 'Prepare the host first: "tartan prepare-host" does no more than that.',
  'artifact not pushed': 'Nothing was changed by this step.',
  'timed out':
    'Nothing else waits for it. See on the host what step STEP waits for; it is tried again with the next run.',
};
