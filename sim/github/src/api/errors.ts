import type { ApiResponse } from './handler.ts';

/** GitHub's refusals. Texts are quoted from real answers, with their sources. */

const errorResponse = (status: number, message: string, headers?: Record<string, string>): ApiResponse => ({
  status,
  body: { message, documentation_url: 'https://docs.github.com/rest', status: String(status) },
  ...(headers === undefined ? {} : { headers }),
});

export const notFound = (): ApiResponse => errorResponse(404, 'Not Found');
export const requiresAuthentication = (): ApiResponse => errorResponse(401, 'Requires authentication');
/** An expired token, a revoked one and an unknown one look the same. */
export const badCredentials = (): ApiResponse => errorResponse(401, 'Bad credentials');

/** `octokit/auth-app.js#698` and `git-for-windows-automation#185` quote the message for a claim that is too far ahead. */
export const badJwt = (why: string): ApiResponse => errorResponse(401, why);

/** `actions-runner-controller#931`: the installation has access, but not this permission. */
export const notAccessible = (): ApiResponse => errorResponse(403, 'Resource not accessible by integration');

/** `docs.rs/runner-manager-github`, module `jit`: observed for a missing key. */
export const invalidInput = (what: string): ApiResponse =>
  errorResponse(422, `Invalid request.\n\nInvalid input: ${what}.`);
export const notGranted = (): ApiResponse =>
  errorResponse(422, 'The permissions requested are not granted to this installation.');
export const problemsParsing = (): ApiResponse => errorResponse(400, 'Problems parsing JSON');

/** `ubicloud#692`: the name is taken as soon as a configuration is generated. */
export const nameTaken = (name: string): ApiResponse =>
  errorResponse(409, `Already exists - A runner with the name ${name} already exists.`);

/** Orka's integration matches this text; until 2022 it was `is still running a job` (`cybozu-go/meows#136`). */
export const runnerBusy = (name: string): ApiResponse =>
  errorResponse(422, `Runner ${name} is currently running a job and cannot be deleted.`);

/** REST API, "Rate limits": 403 or 429; with the primary limit `x-ratelimit-remaining` is 0, and the wait is until the reset. */
export const primaryLimit = (status: 403 | 429, who: string, headers: Record<string, string>): ApiResponse =>
  errorResponse(status, `API rate limit exceeded for ${who}.`, headers);

/** The same page: `retry-after` may be present. It often is not (`hub4j/github-api#1805`). */
export const secondaryLimit = (status: 403 | 429, retryAfter: number | undefined): ApiResponse =>
  errorResponse(
    status,
    'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
    retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
  );

/** From GitHub's front end, which does not send JSON. */
export const unavailable = (status: number): ApiResponse => ({
  status,
  body: '<html><head><title>Unicorn!</title></head></html>',
  headers: { 'content-type': 'text/html; charset=utf-8' },
});
