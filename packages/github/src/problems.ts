import { timestamp } from '@tartan/kube/clock';
import type { Operation } from './http/operations.ts';
import type { Problem } from './runner-service.ts';

/**
 * All that goes wrong, in words: what, why, and what to do. `what` completes "GitHub did not …". GitHub's own words are `said`: cleaned,
 * on one line and short, or nothing.
 */

const inParentheses = (said: string): string => (said === '' ? '' : ` (${said})`);

const denied = (message: string): Problem => ({ kind: 'problem', reason: 'Denied', message });

export const rateLimited = (what: string, retryAt: number): Problem => ({
  kind: 'problem',
  reason: 'RateLimited',
  message: `GitHub did not ${what}: it was asked too much. It is asked again after ${timestamp(retryAt)}.`,
  retryAt,
});

export const unavailable = (what: string, why: string): Problem => ({
  kind: 'problem',
  reason: 'Unavailable',
  message: `GitHub did not ${what}: ${why}. It may have been done all the same; it is looked at again.`,
});

export const missingPermission = (what: string, { permission }: Operation, said: string): Problem =>
  denied(
    `GitHub did not ${what}: the App may not${inParentheses(said)}. Give it ${permission}, and accept that in its installation.`,
  );

export const ownerNotVisible = (what: string, owner: string): Problem =>
  denied(
    `GitHub did not ${what}: the App does not see ${owner}. Check the name, and that the installation is the one of that account and includes the repository.`,
  );

export const renamed = (what: string): Problem =>
  denied(`GitHub did not ${what}: it has another name now. Write the name that it has today.`);

export const refusedRequest = (what: string, status: number, said: string): Problem =>
  denied(
    `GitHub did not ${what}: it refused the request with HTTP ${status}${inParentheses(said)}. Asking again does not help.`,
  );

export const invalidRequest = (what: string, why: string): Problem => denied(`GitHub was not asked to ${what}: ${why}`);

export const invalidAppCredentials = (said: string): Problem =>
  denied(
    `GitHub did not let the App in: it does not believe that it is this App${inParentheses(said)}. Check that app-id and private-key belong together, that the key has not been deleted, and the clock of this machine.`,
  );

export const noInstallation = (): Problem =>
  denied(
    'GitHub did not let the App in: it has no such installation. Check installation-id, and that the App is installed.',
  );

export const installationSuspended = (said: string): Problem =>
  denied(
    `GitHub did not let the App in: its installation may not be used${inParentheses(said)}. Check that it is not suspended.`,
  );

export const unknownGroup = (group: string, organization: string, known: readonly string[]): Problem =>
  denied(
    `GitHub was not asked for a runner: ${organization} has no runner group ${JSON.stringify(group)} that the App sees, only ${known.join(', ')}. Make it there, or name another one.`,
  );

export const isProblem = (value: object): value is Problem => 'kind' in value && value.kind === 'problem';
