import { raceWithSignal, type Secret } from '@tartan/kube';
import type { z } from 'zod';
import { requestAccessToken } from '../app/access-token.ts';
import type { Installation } from '../app/installation.ts';
import {
  missingPermission,
  ownerNotVisible,
  rateLimited,
  RefusedError,
  refusedRequest,
  unavailable,
} from '../problems.ts';
import type { GitHubApp } from '../runner-service.ts';
import { exchange, type ExchangeOptions, parseBody, type RequestParameters } from './exchange.ts';
import type { Operation } from './operations.ts';

interface ApiCall<T> {
  readonly operation: Operation;
  /** Completes "GitHub did not …". */
  readonly what: string;
  /** In addition to those of the operation. */
  readonly parameters?: RequestParameters;
  readonly answer: z.ZodType<T>;
  /** Whether GitHub may answer 304. Not for calls that decide about a Pod. */
  readonly isConditional?: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Rejects with a `ProblemError`, or with the reason of the signal. */
export type CallApi = <T>(call: ApiCall<T>) => Promise<T>;

interface ClientOptions extends Omit<ExchangeOptions, 'rateLimiter'> {
  readonly app: GitHubApp;
  readonly installation: Installation;
  /** For messages. */
  readonly ownerName: string;
}

/**
 * One call as the installation.
 *
 * Flow: get the shared token; send the request; if GitHub refuses the token, send it once more with a new one. Guarantee: a call is
 * repeated only after a 401, for which GitHub has done nothing.
 */
export const createCallApi = ({ app, installation, ownerName, ...connection }: ClientOptions): CallApi => {
  const { tokens, rateLimiter, etagCache } = installation;
  const exchangeOptions = { ...connection, rateLimiter };
  const tokenFor = async (signal: AbortSignal | undefined, refused?: Secret): Promise<Secret> => {
    // Before the request begins: nobody would wait for it, and a rejection that nobody waits for ends the process.
    signal?.throwIfAborted();
    return raceWithSignal(
      tokens.current(() => requestAccessToken(app, exchangeOptions), refused),
      signal,
    );
  };

  return async ({ operation, what, answer, isConditional = false, signal, ...call }) => {
    // Checked before a token is requested: while the call must wait, nothing is sent at all.
    const closedUntil = rateLimiter.blockedUntil(operation);
    if (closedUntil !== undefined) throw rateLimited(what, closedUntil);
    const parameters = { ...operation.parameters, ...call.parameters };
    const question = `${operation.route} ${JSON.stringify(parameters)}`;
    const known = isConditional ? etagCache.get(question) : undefined;
    const send = (token: Secret) =>
      exchange(operation, what, { parameters, token, etag: known?.etag, signal }, exchangeOptions);

    const token = await tokenFor(signal);
    let response = await send(token);
    if (response.status === 401) response = await send(await tokenFor(signal, token));

    const { status, headers, body, errorMessage } = response;
    if (status === 304) return parseBody(answer, known?.body, what);
    if (status >= 200 && status < 300) {
      const etag = headers.get('etag');
      const read = parseBody(answer, body, what);
      if (isConditional && etag !== null) etagCache.set(question, { etag, body: read });
      return read;
    }
    // A new token is sometimes not valid everywhere at once: this passes.
    if (status === 401) throw unavailable(what, 'it takes none of the tokens that it gives the App');
    if (status === 403) throw missingPermission(what, operation, errorMessage);
    if (status === 404) throw new RefusedError(ownerNotVisible(what, ownerName), status, errorMessage);
    const refused = refusedRequest(what, status, errorMessage);
    throw status === 409 || status === 422 ? new RefusedError(refused, status, errorMessage) : refused;
  };
};

/** GitHub's maximum. */
const pageSize = 100;

/**
 * All items of a paginated list, up to a maximum of pages. `key`: the list in each page.
 *
 * Caveat: an item that moves to another page during the read may be missing. So a missing item proves nothing.
 */
export const listAllPages = async <Key extends string, Item extends { readonly id: number }>(
  callApi: CallApi,
  key: Key,
  call: ApiCall<{ readonly total_count: number } & Readonly<Record<Key, readonly Item[]>>>,
  maxPages: number,
): Promise<readonly Item[]> => {
  const seen = new Map<number, Item>();
  for (let page = 1; page <= maxPages; page += 1) {
    const parameters = { ...call.parameters, per_page: pageSize, page };
    const answer = await callApi({ ...call, parameters, isConditional: true });
    const items: readonly Item[] = answer[key];
    for (const item of items) seen.set(item.id, item);
    if (items.length < pageSize || page * pageSize >= answer.total_count) break;
  }
  return [...seen.values()];
};
