import { createRedactor } from '@tartan/kube';
import { z } from 'zod';
import { rateLimited, renamed, unavailable } from '../problems.ts';
import type { Operation } from './operations.ts';
import { type RateLimiter, readQuota } from './rate-limit.ts';
import { type ApiRequest, type ApiResponse, type Connection, sendRequest } from './send.ts';

const errorBody = z.object({ message: z.string() });
const redactor = createRedactor();
/** Tokens of the old and the new format. They should not be in GitHub's messages, and must not be in ours. */
const tokenPattern = /\b(?:gh[a-z]_|github_pat_)\w+/g;
/** Long enough for any sentence of GitHub, short enough for a condition. */
const maxMessageLength = 200;

/** GitHub's reason in its own words, on one line. Nothing else of a refusal is kept. */
const errorMessageIn = (body: unknown): string => {
  const text = errorBody.safeParse(body).data?.message ?? '';
  const clean = redactor
    .text(text)
    .replaceAll(tokenPattern, '[redacted]')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .replace(/\.$/, '');
  return clean.length > maxMessageLength ? `${clean.slice(0, maxMessageLength)}…` : clean;
};

/** One request that went out, for metrics. */
export interface CallReport {
  readonly method: string;
  /** With the names of its parts: `/orgs/{org}/actions/runners/{runner_id}`. */
  readonly route: string;
  /** Undefined: no answer. */
  readonly status: number | undefined;
  /** Calls that the installation has left of the hour, if the response has it. */
  readonly remaining: number | undefined;
}

/** An answer of the API: neither a limit nor a failure. */
export interface ClassifiedResponse extends ApiResponse {
  readonly errorMessage: string;
}

export interface ExchangeOptions extends Connection {
  readonly rateLimiter: RateLimiter;
  readonly onCall: (report: CallReport) => void;
}

/** Sends one request, unless a rate limit forbids it. Rejects with a `ProblemError` for limits, redirects and failures of GitHub. */
export const exchange = async (
  operation: Operation,
  what: string,
  question: Omit<ApiRequest, 'route'>,
  { rateLimiter, onCall, ...connection }: ExchangeOptions,
): Promise<ClassifiedResponse> => {
  const { clock } = connection;
  const { route } = operation;
  const closedUntil = rateLimiter.blockedUntil(operation);
  if (closedUntil !== undefined) throw rateLimited(what, closedUntil);
  const [method = '', path = ''] = route.split(' ');
  const report = (status: number | undefined, remaining: number | undefined): void =>
    onCall({ method, route: path, status, remaining });
  let got: ApiResponse | { readonly failure: string };
  try {
    got = await sendRequest({ ...question, route }, connection);
  } catch (error) {
    report(undefined, undefined);
    throw error;
  }
  if ('failure' in got) {
    report(undefined, undefined);
    throw unavailable(what, got.failure);
  }
  const { status, headers } = got;
  report(status, operation.isAsApp === true ? undefined : readQuota(headers, clock.now())?.remaining);
  const response = { ...got, errorMessage: errorMessageIn(got.body) };
  const retryAt = rateLimiter.observeResponse(operation, response);
  if (retryAt !== undefined) throw rateLimited(what, retryAt);
  if (status >= 500) throw unavailable(what, `it has a failure of its own, HTTP ${status}`);
  if (status >= 300 && status < 400 && status !== 304) throw renamed(what);
  return response;
};

/** Validates a body. Unknown fields are dropped. */
export const parseBody = <T>(answer: z.ZodType<T>, body: unknown, what: string): T => {
  const result = answer.safeParse(body);
  if (result.success) return result.data;
  // Where it is wrong, never what stands there.
  const path = result.error.issues[0]?.path.map(String).join('.') ?? '';
  throw unavailable(what, `its answer makes no sense${path === '' ? '' : ` at ${path}`}`);
};
