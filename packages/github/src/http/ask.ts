import type { Secret } from '@tartan/kube';
import type { z } from 'zod';
import type { Account } from '../app/account.ts';
import { signIn } from '../app/sign-in.ts';
import { isProblem, rateLimited, refusedRequest, unavailable, withoutRight } from '../problems.ts';
import type { GitHubApp, Problem } from '../runner-service.ts';
import { exchange, type Heard, type Line, readAnswer } from './exchange.ts';
import type { Operation } from './operations.ts';
import { untilAborted } from './until-aborted.ts';

export interface Asked<T> {
  readonly operation: Operation;
  /** Completes "GitHub did not …". */
  readonly what: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly answer: z.ZodType<T>;
  /** Whether GitHub may say that nothing has changed. Not for what somebody's life hangs on. */
  readonly isConditional?: boolean;
  readonly signal: AbortSignal | undefined;
}

/** `refused`: 404, 409 and 422 mean something else with each call. */
export type Answered<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'refused'; readonly status: 404 | 409 | 422; readonly said: string }
  | Problem;

export type Ask = <T>(asked: Asked<T>) => Promise<Answered<T>>;

interface AskOptions extends Omit<Line, 'allowance'> {
  readonly app: GitHubApp;
  readonly account: Account;
}

/**
 * One call as the installation.
 *
 * Flow: a token, which others may have got already; the question; once more with a new token if that one is refused. Guarantees: rejects
 * with the reason of the signal only. A call is repeated only after a 401, which nothing was done for.
 */
export const createAsk = ({ app, account, ...connection }: AskOptions): Ask => {
  const { tokens, allowance, kept } = account;
  const line = { ...connection, allowance };
  const tokenFor = (signal: AbortSignal | undefined, refused?: Secret): Promise<Secret | Problem> =>
    untilAborted(
      tokens.current(() => signIn(app, line), refused),
      signal,
    );

  return async ({ operation, what, parameters, answer, isConditional = false, signal }) => {
    // Before a token is made for it: while it must wait, nothing is asked at all.
    const closedUntil = allowance.closedUntil(operation);
    if (closedUntil !== undefined) return rateLimited(what, closedUntil);
    const question = `${operation.route} ${JSON.stringify(parameters)}`;
    const known = isConditional ? kept.get(question) : undefined;
    const send = (token: Secret): Promise<Heard | Problem> =>
      exchange(operation, what, { parameters, token, etag: known?.etag, signal }, line);

    const token = await tokenFor(signal);
    if ('reason' in token) return token;
    let heard = await send(token);
    if (!isProblem(heard) && heard.status === 401) {
      const fresh = await tokenFor(signal, token);
      if ('reason' in fresh) return fresh;
      heard = await send(fresh);
    }
    if (isProblem(heard)) return heard;

    const { status, headers, body, said } = heard;
    if (status === 304) return readAnswer(answer, known?.body, what);
    if (status >= 200 && status < 300) {
      const etag = headers.get('etag');
      const read = readAnswer(answer, body, what);
      if (isConditional && etag !== null && read.kind === 'ok') kept.keep(question, { etag, body: read.value });
      return read;
    }
    // A new token is at times not known everywhere at once: this passes.
    if (status === 401) return unavailable(what, 'it takes none of the tokens that it gives the App');
    if (status === 403) return withoutRight(what, operation, said);
    if (status === 404 || status === 409 || status === 422) return { kind: 'refused', status, said };
    return refusedRequest(what, status, said);
  };
};
