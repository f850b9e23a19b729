import { request } from '@octokit/request';
import { RequestError } from '@octokit/request-error';
import { readText, type Secret } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { z } from 'zod';

const coded = z.object({ code: z.string().regex(/^[A-Z][A-Z0-9_]{2,60}$/) });
const wrapper = z.object({ cause: z.unknown() });
const several = z.object({ errors: z.array(z.unknown()).nonempty() });

/** `fetch failed` says nothing; the code of what lies below does (`ENOTFOUND`), and holds nothing but letters. */
export const networkErrorCode = (error: unknown, depth = 0): string => {
  const own = coded.safeParse(error).data?.code;
  if (own !== undefined) return own;
  const below = wrapper.safeParse(error).data?.cause ?? several.safeParse(error).data?.errors[0];
  return below === undefined || depth > 4 ? 'the connection failed' : networkErrorCode(below, depth + 1);
};

/** A hundred workflow runs are 2 MB. What is larger than this is not from GitHub's API. */
const maxResponseBytes = 16 * 1024 * 1024;

export interface Connection {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly apiURL: string;
  /** Milliseconds for the whole answer, its body included. */
  readonly deadline: number;
}

export interface ApiRequest {
  readonly route: string;
  /** Of the path, the query and the body alike. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly token: Secret;
  /** Of an answer that is kept: GitHub says 304 if it is still the same. */
  readonly etag: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** What came, whatever its status. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  /** As far as it is JSON. Not believed yet. */
  readonly body: unknown;
}

/** One request. Rejects with the reason of the signal only; `why` no answer came is told in words that hold nothing of it. */
export const sendRequest = async (
  question: ApiRequest,
  { fetch: send, clock, apiURL, deadline }: Connection,
): Promise<ApiResponse | { readonly why: string }> => {
  const { route, parameters, token, etag, signal } = question;
  const deadlineController = new AbortController();
  const cancelDeadline = clock.after(deadline, () => deadlineController.abort());
  let headers = new Headers();
  let why: string | undefined;
  // Read here, within the deadline. Octokit is told that it is JSON: of a strange content type it would make an exception of its own.
  const readWhole: typeof fetch = async (input, init) => {
    const response = await send(input, init);
    headers = response.headers;
    const text = await readText(response, maxResponseBytes);
    if (text === undefined) {
      why = 'its answer is too long';
      throw new Error(why);
    }
    const hasBody = ![204, 205, 304].includes(response.status);
    return new Response(hasBody ? text : null, {
      status: response.status,
      headers: { 'content-type': 'application/json' },
    });
  };
  try {
    const { status, data } = await request(route, {
      ...parameters,
      baseUrl: apiURL,
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${token.reveal()}`,
        'user-agent': 'tartan',
        'x-github-api-version': '2022-11-28',
        ...(etag === undefined ? {} : { 'if-none-match': etag }),
      },
      request: {
        fetch: readWhole,
        // Followed, a redirect would repeat a POST as something else.
        redirect: 'manual',
        signal: signal === undefined ? deadlineController.signal : AbortSignal.any([signal, deadlineController.signal]),
      },
    });
    return { status, headers, body: data };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof RequestError && error.response !== undefined) {
      return { status: error.status, headers, body: error.response.data };
    }
    // Neither the error nor its cause goes further: they hold what was sent.
    return {
      why: deadlineController.signal.aborted
        ? `nothing came within ${deadline / 1000} s`
        : (why ?? networkErrorCode(error)),
    };
  } finally {
    cancelDeadline();
  }
};
