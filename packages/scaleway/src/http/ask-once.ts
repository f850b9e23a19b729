import { readText } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { codeOf, noAnswer } from '../errors/failures.ts';
import type { Refusal } from '../errors/refusal.ts';

/** 100 servers are 0.3 MB. What is larger than this is not from Scaleway's API. */
export const longestAnswer = 8 * 1024 * 1024;

/** What is sent, in a form that can be sent again: the body of a `Request` can be read only once. */
export interface Outgoing {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | undefined;
}

export interface AskOptions {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** Milliseconds for the whole answer, its body included. */
  readonly deadline: number;
  readonly what: string;
  readonly signal: AbortSignal | undefined;
}

/** One request and its answer, whatever its status. Rejects with `no answer`, or with the reason of `signal`. */
export const askOnce = async (outgoing: Outgoing, options: AskOptions): Promise<Refusal> => {
  const { clock, deadline, what, signal } = options;
  const late = new AbortController();
  const takeBack = clock.after(deadline, () => late.abort());
  try {
    const response = await options.fetch(outgoing.url, {
      method: outgoing.method,
      headers: outgoing.headers,
      ...(outgoing.body === undefined ? {} : { body: outgoing.body }),
      // Followed, a redirect would hand the secret key in `X-Auth-Token` to whoever it points at, and repeat a POST.
      redirect: 'manual',
      signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
    });
    const text = await readText(response, longestAnswer);
    return { status: response.status, text, retryAfter: response.headers.get('retry-after') };
  } catch (error) {
    signal?.throwIfAborted();
    throw noAnswer(what, late.signal.aborted ? `nothing came within ${deadline} ms` : codeOf(error));
  } finally {
    takeBack();
  }
};
