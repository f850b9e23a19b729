import { createRedactor, fetchText, type FetchTextOptions, parseJson, type Secret } from '@tartan/kube';
import { z } from 'zod';
import { rateLimited, renamed, unavailable } from '../problems.ts';
import type { Operation } from './operations.ts';
import { type RateLimiter, readQuota } from './rate-limit.ts';

const errorBody = z.object({ message: z.string() });
const redactor = createRedactor();
/** Tokens of the old and the new format. They must not be in our messages, even if GitHub quotes them. */
const tokenPattern = /\b(?:gh[a-z]_|github_pat_)\w+/g;
/** Long enough for GitHub's messages, short enough for a condition. */
const maxMessageLength = 200;

/** GitHub's own reason, on one line. Nothing else of a refusal is kept. */
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

/** One request, for metrics. */
export interface CallReport {
  readonly method: string;
  /** With placeholders: `/orgs/{org}/actions/runners/{runner_id}`. */
  readonly route: string;
  /** Undefined: no answer. `blocked`: not sent, because of a rate limit. */
  readonly status: number | 'blocked' | undefined;
  /** Remaining calls of the installation in this hour, if the response has the header. */
  readonly remaining: number | undefined;
}

/** Parameters of the path, then of the query of a GET or the body of a POST. */
export type RequestParameters = Readonly<Record<string, string | number | readonly string[]>>;

interface ApiRequest {
  readonly parameters: RequestParameters;
  readonly token: Secret;
  /** Of a cached response: GitHub answers 304 if nothing has changed. */
  readonly etag: string | undefined;
  readonly signal: AbortSignal | undefined;
}

export interface ExchangeOptions extends Pick<FetchTextOptions, 'fetch' | 'clock' | 'deadline'> {
  readonly apiURL: string;
  readonly rateLimiter: RateLimiter;
  readonly onCall: (report: CallReport) => void;
}

/** A hundred workflow runs are 2 MB. A larger response is not from GitHub's API. */
const maxBytes = 16 * 1024 * 1024;

/**
 * Sends one request, unless a rate limit forbids it. Rejects with a `ProblemError` for limits, redirects and failures of GitHub, and with
 * the reason of the signal. The body is parsed JSON, not validated yet; undefined: not JSON.
 */
export const exchange = async (
  operation: Operation,
  what: string,
  { parameters, token, etag, signal }: ApiRequest,
  { rateLimiter, onCall, apiURL, ...connection }: ExchangeOptions,
) => {
  const { route, isAsApp = false } = operation;
  const closedUntil = rateLimiter.blockedUntil(operation);
  const { method, path, body } = expandRoute(route, parameters);
  const report = (status: CallReport['status'], remaining: CallReport['remaining']): void =>
    onCall({ method, route: route.replace(/^\S+ /, ''), status, remaining });
  if (closedUntil !== undefined) {
    report('blocked', undefined);
    throw rateLimited(what, closedUntil);
  }
  const init = {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token.reveal()}`,
      'user-agent': 'tartan',
      'x-github-api-version': '2022-11-28',
      ...(etag === undefined ? {} : { 'if-none-match': etag }),
      ...(body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }),
    },
    ...(body === undefined ? {} : { body }),
  };
  let answered: { readonly status: number; readonly headers: Headers } | undefined;
  try {
    const response = await fetchText(`${apiURL}${path}`, init, { ...connection, maxBytes, signal });
    if ('failure' in response) throw unavailable(what, response.failure);
    const { status, headers, text } = response;
    if (text === undefined) throw unavailable(what, 'its answer is too long');
    answered = { status, headers };
    const json = parseJson(text);
    const classified = { status, headers, body: json, errorMessage: errorMessageIn(json) };
    const retryAt = rateLimiter.observeResponse(operation, classified);
    if (retryAt !== undefined) throw rateLimited(what, retryAt);
    if (status >= 500) throw unavailable(what, `it has a failure of its own, HTTP ${status}`);
    if (status >= 300 && status < 400 && status !== 304) throw renamed(what);
    return classified;
  } finally {
    const quota = answered && !isAsApp ? readQuota(answered.headers, connection.clock.now()) : undefined;
    report(answered?.status, quota?.remaining);
  }
};

/** Fills in the path. The remaining parameters are the query of a GET and the body of everything else. */
const expandRoute = (
  route: string,
  parameters: RequestParameters,
): { readonly method: string; readonly path: string; readonly body: string | undefined } => {
  const [method = '', template = ''] = route.split(' ');
  const rest = new Map(Object.entries(parameters));
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest.get(name) ?? '');
    rest.delete(name);
    return encodeURIComponent(value.toWellFormed());
  });
  if (rest.size === 0) return { method, path, body: undefined };
  if (method !== 'GET') return { method, path, body: JSON.stringify(Object.fromEntries(rest)) };
  const query = new URLSearchParams([...rest].map(([name, value]) => [name, String(value)]));
  return { method, path: `${path}?${query.toString()}`, body: undefined };
};

/** Validates a body. Unknown fields are dropped. */
export const parseBody = <T>(answer: z.ZodType<T>, body: unknown, what: string): T => {
  const result = answer.safeParse(body);
  if (result.success) return result.data;
  // Names the field, never its value.
  const path = result.error.issues[0]?.path.map(String).join('.') ?? '';
  throw unavailable(what, `its answer makes no sense${path === '' ? '' : ` at ${path}`}`);
};
