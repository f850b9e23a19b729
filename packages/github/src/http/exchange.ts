import { createRedactor, type Logger } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { z } from 'zod';
import { rateLimited, renamed, unavailable } from '../problems.ts';
import type { Problem } from '../runner-service.ts';
import type { Operation } from './operations.ts';
import { type RateLimiter, readQuota } from './rate-limit.ts';
import { type ApiRequest, type ApiResponse, type Connection, sendRequest } from './send.ts';

const errorBody = z.object({ message: z.string() });
const redactor = createRedactor();
/** Tokens by their looks, old and new: nothing that GitHub says should have one in it, and nothing of ours will. */
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
  readonly milliseconds: number;
  /** Calls that the installation has left of the hour, as far as the answer tells. */
  readonly remaining: number | undefined;
}

/** An answer of the API: neither a limit nor a failure. */
export interface ClassifiedResponse extends ApiResponse {
  readonly errorMessage: string;
}

/** How to ask, and who is told of it. */
export interface ExchangeOptions extends Connection {
  readonly rateLimiter: RateLimiter;
  readonly onCall: (report: CallReport) => void;
  readonly log: Logger | undefined;
}

/** Asks once, unless a limit forbids it, and sorts out what concerns every call alike. */
export const exchange = async (
  operation: Operation,
  what: string,
  question: Omit<ApiRequest, 'route'>,
  { rateLimiter, onCall, log, ...connection }: ExchangeOptions,
): Promise<ClassifiedResponse | Problem> => {
  const { clock } = connection;
  const { route } = operation;
  const closedUntil = rateLimiter.blockedUntil(operation);
  if (closedUntil !== undefined) return rateLimited(what, closedUntil);
  const [method = '', path = ''] = route.split(' ');
  const start = clock.monotonic();
  const report = (status: number | undefined, remaining: number | undefined): void =>
    onCall({ method, route: path, status, milliseconds: clock.monotonic() - start, remaining });
  let got: ApiResponse | { readonly failure: string };
  try {
    got = await sendRequest({ ...question, route }, connection);
  } catch (error) {
    report(undefined, undefined);
    throw error;
  }
  if ('failure' in got) {
    report(undefined, undefined);
    return unavailable(what, got.failure);
  }
  const { status, headers } = got;
  report(status, operation.isAsApp === true ? undefined : readQuota(headers, clock.now())?.remaining);
  const response = { ...got, errorMessage: errorMessageIn(got.body) };
  const retryAt = rateLimiter.observeResponse(operation, response);
  if (retryAt !== undefined) {
    log?.warn('GitHub rate limit reached', { route, status, until: timestamp(retryAt) });
    return rateLimited(what, retryAt);
  }
  if (status >= 500) return unavailable(what, `it has a failure of its own, HTTP ${status}`);
  if (status >= 300 && status < 400 && status !== 304) return renamed(what);
  return response;
};

/** The body as what it should be; nothing else of it goes further. */
export const parseBody = <T>(
  answer: z.ZodType<T>,
  body: unknown,
  what: string,
): { readonly kind: 'ok'; readonly value: T } | Problem => {
  const result = answer.safeParse(body);
  if (result.success) return { kind: 'ok', value: result.data };
  // Where it is wrong, never what stands there.
  const path = result.error.issues[0]?.path.map(String).join('.') ?? '';
  return unavailable(what, `its answer makes no sense${path === '' ? '' : ` at ${path}`}`);
};
