import type { Secret } from '@tartan/kube';
import type { z } from 'zod';
import { requestAccessToken } from '../app/access-token.ts';
import type { Installation } from '../app/installation.ts';
import { isProblem, missingPermission, rateLimited, refusedRequest, unavailable } from '../problems.ts';
import type { GitHubApp, Problem } from '../runner-service.ts';
import { type ClassifiedResponse, exchange, type ExchangeOptions, parseBody } from './exchange.ts';
import type { Operation } from './operations.ts';
import type { RequestParameters } from './send.ts';

/** What is waited for together with others, left alone as soon as `signal` fires. Rejects with its reason then. */
const raceWithSignal = async <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return work;
  signal.throwIfAborted();
  const left = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: left.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    left.abort();
  }
};

interface ApiCall<T> {
  readonly operation: Operation;
  /** Completes "GitHub did not …". */
  readonly what: string;
  readonly parameters: RequestParameters;
  readonly answer: z.ZodType<T>;
  /** Whether GitHub may say that nothing has changed. Not for what somebody's life hangs on. */
  readonly isConditional?: boolean;
  readonly signal: AbortSignal | undefined;
}

/** `refused`: 404, 409 and 422 mean something else with each call. */
export type ApiResult<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'refused'; readonly status: 404 | 409 | 422; readonly errorMessage: string }
  | Problem;

export type CallApi = <T>(asked: ApiCall<T>) => Promise<ApiResult<T>>;

interface ClientOptions extends Omit<ExchangeOptions, 'rateLimiter'> {
  readonly app: GitHubApp;
  readonly installation: Installation;
}

/**
 * One call as the installation.
 *
 * Flow: a token, which others may have got already; the question; once more with a new token if that one is refused. Guarantees: rejects
 * with the reason of the signal only. A call is repeated only after a 401, which nothing was done for.
 */
export const createCallApi = ({ app, installation, ...connection }: ClientOptions): CallApi => {
  const { tokens, rateLimiter, etagCache } = installation;
  const exchangeOptions = { ...connection, rateLimiter };
  const tokenFor = (signal: AbortSignal | undefined, refused?: Secret): Promise<Secret | Problem> =>
    raceWithSignal(
      tokens.current(() => requestAccessToken(app, exchangeOptions), refused),
      signal,
    );

  return async ({ operation, what, parameters, answer, isConditional = false, signal }) => {
    // Before a token is made for it: while it must wait, nothing is asked at all.
    const closedUntil = rateLimiter.blockedUntil(operation);
    if (closedUntil !== undefined) return rateLimited(what, closedUntil);
    const question = `${operation.route} ${JSON.stringify(parameters)}`;
    const known = isConditional ? etagCache.get(question) : undefined;
    const send = (token: Secret): Promise<ClassifiedResponse | Problem> =>
      exchange(operation, what, { parameters, token, etag: known?.etag, signal }, exchangeOptions);

    const token = await tokenFor(signal);
    if ('reason' in token) return token;
    let response = await send(token);
    if (!isProblem(response) && response.status === 401) {
      const fresh = await tokenFor(signal, token);
      if ('reason' in fresh) return fresh;
      response = await send(fresh);
    }
    if (isProblem(response)) return response;

    const { status, headers, body, errorMessage } = response;
    if (status === 304) return parseBody(answer, known?.body, what);
    if (status >= 200 && status < 300) {
      const etag = headers.get('etag');
      const read = parseBody(answer, body, what);
      if (isConditional && etag !== null && read.kind === 'ok') etagCache.set(question, { etag, body: read.value });
      return read;
    }
    // A new token is at times not known everywhere at once: this passes.
    if (status === 401) return unavailable(what, 'it takes none of the tokens that it gives the App');
    if (status === 403) return missingPermission(what, operation, errorMessage);
    if (status === 404 || status === 409 || status === 422) return { kind: 'refused', status, errorMessage };
    return refusedRequest(what, status, errorMessage);
  };
};

/** The most that GitHub gives at once. */
const pageSize = 100;

interface Page<Item> {
  readonly total: number;
  readonly items: readonly Item[];
}

/**
 * All of a list that comes in pages, at most so many of them.
 *
 * Caveat: what moves over the border of two pages while they are read may be missing. The next look shows it; nothing may be concluded
 * from what a list does not have.
 */
export const listAllPages = async <T, Item extends { readonly id: number }>(
  ask: CallApi,
  call: ApiCall<T>,
  read: (answer: T) => Page<Item>,
  maxPages: number,
): Promise<ApiResult<readonly Item[]>> => {
  const seen = new Map<number, Item>();
  for (let page = 1; page <= maxPages; page += 1) {
    const parameters = { ...call.parameters, per_page: pageSize, page };
    const answer = await ask({ ...call, parameters });
    if (answer.kind !== 'ok') return answer;
    const { total, items } = read(answer.value);
    for (const item of items) seen.set(item.id, item);
    if (items.length < pageSize || page * pageSize >= total) break;
  }
  return { kind: 'ok', value: [...seen.values()] };
};
