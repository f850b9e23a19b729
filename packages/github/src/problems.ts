import { timestamp } from '@tartan/kube/clock';
import type { Operation } from './http/operations.ts';
import type { Problem } from './runner-service.ts';

/** Carries a problem to `createRunnerService`, which answers it to its caller. */
export class ProblemError extends Error {
  override readonly name: string = 'ProblemError';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** A status that has its own meaning for some calls. */
export class RefusedError extends ProblemError {
  override readonly name = 'RefusedError';
  readonly status: 404 | 409 | 422;
  readonly errorMessage: string;

  constructor(cause: ProblemError, status: RefusedError['status'], errorMessage: string) {
    super(cause.problem);
    this.status = status;
    this.errorMessage = errorMessage;
  }
}

/**
 * Messages of problems: what, why, and what to do. `what` completes "GitHub did not …". `said` is GitHub's own message: redacted, on one
 * line and short, or empty.
 */

const inParentheses = (said: string): string => (said === '' ? '' : ` (${said})`);

const denied = (message: string): ProblemError => new ProblemError({ kind: 'problem', reason: 'Denied', message });

export const rateLimited = (what: string, retryAt: number): ProblemError =>
  new ProblemError({
    kind: 'problem',
    reason: 'RateLimited',
    message: `GitHub did not ${what}: it was asked too much. It is asked again after ${timestamp(retryAt)}.`,
    retryAt,
  });

export const unavailable = (what: string, why: string): ProblemError =>
  new ProblemError({
    kind: 'problem',
    reason: 'Unavailable',
    message: `GitHub did not ${what}: ${why}. It may have been done all the same; it is looked at again.`,
  });

export const missingPermission = (what: string, { permission }: Operation, said: string): ProblemError =>
  denied(
    `GitHub did not ${what}: the App may not${inParentheses(said)}. Give it ${permission}, and accept that in its installation.`,
  );

export const ownerNotVisible = (what: string, owner: string): ProblemError =>
  denied(
    `GitHub did not ${what}: the App does not see ${owner}. Check the name, and that the installation is the one of that account and includes the repository.`,
  );

export const renamed = (what: string): ProblemError =>
  denied(`GitHub did not ${what}: it has another name now. Write the name that it has today.`);

export const refusedRequest = (what: string, status: number, said: string): ProblemError =>
  denied(
    `GitHub did not ${what}: it refused the request with HTTP ${status}${inParentheses(said)}. Asking again does not help.`,
  );

export const invalidRequest = (what: string, why: string): ProblemError =>
  denied(`GitHub was not asked to ${what}: ${why}`);

export const invalidAppCredentials = (said: string): ProblemError =>
  denied(
    `GitHub did not let the App in: it does not believe that it is this App${inParentheses(said)}. Check that app-id and private-key belong together, that the key has not been deleted, and the clock of this machine.`,
  );

export const noInstallation = (): ProblemError =>
  denied(
    'GitHub did not let the App in: it has no such installation. Check installation-id, and that the App is installed.',
  );

export const installationSuspended = (said: string): ProblemError =>
  denied(
    `GitHub did not let the App in: its installation may not be used${inParentheses(said)}. Check that it is not suspended.`,
  );

export const unknownGroup = (group: string, organization: string, known: readonly string[]): ProblemError =>
  denied(
    `GitHub was not asked for a runner: ${organization} has no runner group ${JSON.stringify(group)} that the App sees, only ${known.join(', ')}. Make it there, or name another one.`,
  );

/** The answer of a call, or GitHub's refusal. */
export const orRefused = async <T>(call: Promise<T>): Promise<T | RefusedError> => {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RefusedError) return error;
    throw error;
  }
};
